"""Where people land."""

from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import View

from panel.access import accounts_of, sellers_of


class Home(LoginRequiredMixin, View):
    """The accounts and sellers one may see."""

    def get(self, request: HttpRequest) -> HttpResponse:
        found = {"accounts": accounts_of(request.user), "sellers": sellers_of(request.user)}
        return render(request, "panel/home.html", found)
