"""The page on scikit-learn says what comes out."""

from pages import followed_anchors, run_blocks, text_of

PAGE = "docs/how-to/import-from-scikit-learn.md"


def test_the_page_says_what_comes_out(page_folder):
    pairs = run_blocks(text_of(PAGE), PAGE)
    assert len(pairs) == 7
    for said, written in pairs:
        assert written.split() == said.split()
    assert (page_folder / "search.csv").exists()


def test_its_links_lead_somewhere():
    followed_anchors((PAGE,))
