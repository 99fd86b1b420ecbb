"""URLs of log-in and second factor: the subset of allauth's that this product serves, under allauth's names."""

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from django.urls import path

from access.views import (
    AccessView,
    ActivateTOTPView,
    InvitationView,
    LogOutView,
    OwnView,
    ResetLinkView,
    ResetPasswordView,
    SessionsView,
)

urlpatterns = [
    path("", OwnView.as_view(), name="account_own"),
    path("login/", account.login, name="account_login"),
    path("logout/", LogOutView.as_view(), name="account_logout"),
    path("inactive/", account.account_inactive, name="account_inactive"),
    path("password/", account.password_change, name="account_change_password"),
    path("password/forgotten/", ResetPasswordView.as_view(), name="account_reset_password"),
    path("password/forgotten/sent/", account.password_reset_done, name="account_reset_password_done"),
    path("password/reset/", ResetLinkView.as_view(), name="reset_link"),
    path("password/reset/done/", account.password_reset_from_key_done, name="account_reset_password_from_key_done"),
    path(
        "password/reset/<str:uidb36>/<str:key>/",
        account.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("invitation/", InvitationView.as_view(), name="account_invitation"),
    path("access/", AccessView.as_view(), name="account_access"),
    path("sessions/", SessionsView.as_view(), name="usersessions_list"),
    path("confirm/", account.reauthenticate, name="account_reauthenticate"),
    path("two-factor/", mfa.index, name="mfa_index"),
    path("two-factor/code/", mfa.authenticate, name="mfa_authenticate"),
    path("two-factor/confirm/", mfa.reauthenticate, name="mfa_reauthenticate"),
    path("two-factor/app/", ActivateTOTPView.as_view(), name="mfa_activate_totp"),
    path("two-factor/app/off/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("two-factor/recovery/", codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("two-factor/recovery/new/", codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
]
