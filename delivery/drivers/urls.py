from django.urls import path

from delivery.drivers import day, log_in, shell, work

app_name = "driver_app"

urlpatterns = [
    path("", shell.Shell.as_view(), name="shell"),
    path("manifest.webmanifest", shell.Manifest.as_view(), name="manifest"),
    path("sw.js", shell.Worker.as_view(), name="worker"),
    path("in/<str:token>/", log_in.LogIn.as_view(), name="log_in"),
    path("out/", log_in.LogOut.as_view(), name="log_out"),
    path("day/", day.DayView.as_view(), name="day"),
    path("state/", work.State.as_view(), name="state"),
    path("duty/", work.Duty.as_view(), name="duty"),
    path("offers/<uuid:delivery>/accept/", work.Accept.as_view(), name="accept"),
    path("offers/<uuid:delivery>/decline/", work.Decline.as_view(), name="decline"),
    path("moves/", work.Moves.as_view(), name="moves"),
    path("positions/", work.Positions.as_view(), name="positions"),
    path("photos/", work.Photos.as_view(), name="photos"),
    path("push/", work.Push.as_view(), name="push"),
    path("updates/", work.Updates.as_view(), name="updates"),
]
