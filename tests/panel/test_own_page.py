"""The page *My account*."""

from django.urls import reverse

PAGE = reverse("account_own")


def test_has_language_colours_and_the_log_out(member):
    content = member.get(PAGE).content.decode()

    for text in (reverse("set_language"), 'lang="pt-br"', 'class="languages themes"', reverse("account_logout")):
        assert text in content


def test_the_menu_has_no_language(member):
    assert reverse("set_language") not in member.get(reverse("panel:search")).content.decode()
