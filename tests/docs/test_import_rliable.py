"""The page on rliable says what comes out."""

from pages import followed_anchors, run_blocks, text_of

PAGE = "docs/how-to/import-from-rliable.md"


def test_the_page_says_what_comes_out(page_folder):
    assert page_folder.exists()
    pairs = run_blocks(text_of(PAGE), PAGE)
    assert len(pairs) == 3
    for said, written in pairs:
        assert written.split() == said.split()


def test_its_links_lead_somewhere():
    assert followed_anchors((PAGE,)) == 1
