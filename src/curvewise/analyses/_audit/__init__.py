"""How an analysis is tried on results whose truth is known: dealt anew, or drawn."""
