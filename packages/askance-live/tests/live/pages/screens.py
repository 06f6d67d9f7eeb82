"""Screens of another size, pages that have taken notice of it, and parts of them that are drawn again and again."""

# Not innerWidth: a phone shows a page that is too wide smaller, and innerWidth grows with it.
TAKEN_NOTICE = """width => new Promise((done) => {
    const look = () => (screen.width === width ? requestAnimationFrame(done) : requestAnimationFrame(look));
    look();
})"""


def resize(page, width, height):
    """The browser says it is done before the page has heard of it: its listeners run with the next frame."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(TAKEN_NOTICE, width)


def with_box(page, does):
    """What a function makes of the box that the matrix scrolls in. In one step: the dashboard draws it anew every
    second, and one that was found before may be gone."""
    return page.evaluate(f"({does})(document.querySelector('.matrix').closest('.scroll-x'))")
