"""Every page, in Portuguese and at both widths: no console error, nothing too wide, and no axe-core violation.

English texts are shorter, on pages of the same markup and styles. In English too there is one walk over the
documentation, whose tables are written for each language. Other tests of this folder use one language, one width and no
axe-core.
"""

import re
from collections.abc import Collection
from datetime import timedelta
from typing import Any

import pghistory
import pytest
from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db.models import F
from django.utils import timezone

from access import invitations
from access.models import InitialPassword
from access.rights import Account
from common.accounts import Role
from common.mail import sending
from common.webhooks import endpoints
from delivery.accounts import integrators
from delivery.connections import actions as connections
from delivery.connections import drafts
from delivery.drivers import devices as driver_devices
from delivery.lifecycle import Ending
from delivery.models import Environment, Integrator, RefusedDeliveryCall, Tariff, WebhookEvent
from delivery.streets.models import Choice, CopyState, Streets
from integration.accounts import keys, sellers
from integration.actions import orders
from integration.connections import actions as seller_connections
from integration.freight.models import FreightRate
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from integration.models import RefusedSellerCall
from integration.models import WebhookEndpoint as EndpointOfSeller
from panel.guide import pages
from panel.pages import pages_for
from tests import smtp
from tests.browser import shop_history
from tests.browser.looks import IN_BOTH_LANGUAGES
from tests.browser.tab import PASSWORD
from tests.delivery.connections.shops import shop as connected
from tests.delivery.ended import Ended, insert
from tests.delivery.personal_data import MARIA, closed, requested
from tests.factories import (
    BY,
    PICKUP,
    DeliveryFactory,
    DriverFactory,
    IntegratorFactory,
    TariffFactory,
    TokenFactory,
)
from tests.integration.connections import shops as seller_shops
from tests.integration.factories import ACCESS_KEY, create_order, load_tariff, nfe_xml, send_invoice
from tests.one_time_codes import code_of
from tests.panel.conftest import refused_call
from tests.panel.test_pages import ROUTES

ANA, WORDS = "ana@example.com", "quatro palavras em fila"


def listed(
    username: str, owner: Account | None = None, *, but: Collection[str] = (), **arguments: Any
) -> dict[str, str]:
    """The paths of the pages of `panel.pages` that a person may open, by names for pictures.

    Of an account or a seller, or of neither. `but`: pages that are looked at elsewhere. `arguments`: what routes name.
    """
    kind = "account" if isinstance(owner, Integrator) else "seller"
    if owner:
        arguments |= {kind: owner.pk, "environment": Environment.LIVE}
    found = pages_for(User.objects.get(username=username), owner, may_request=True)
    names = {page.name.removeprefix("panel:").replace("_", "-"): page.name for page in found if "panel:" in page.name}
    return {
        name: "/" + re.sub(r"<\w+:(\w+)>", lambda part: str(arguments[part[1]]), ROUTES[url_name])
        for name, url_name in names.items()
        if name not in but
    }


class TestAccount:
    def test_with_a_mornings_deliveries(self, walk, people, shop, seller, busy):
        for name in ("maria", "bia"):
            people(name, account=shop.integrator, seller=seller)
        simulated = shop_history.collected(TokenFactory.create(integrator=shop.integrator, sandbox=True))
        calls = {"integrator": shop.integrator, "environment": Environment.LIVE}
        refused_call(RefusedDeliveryCall, **calls, status=429, code="rate_limited")
        call = refused_call(RefusedDeliveryCall, **calls)
        connection = connected(integrator=shop.integrator, pickup=shop.integrator.pickup_points.get())
        connections.try_out(connection=connection, at=timezone.now())
        drafts.check_due()
        dead = WebhookEvent.objects.filter(state="dead").latest("pk")
        failing = WebhookEvent.objects.in_state("failing").latest("created_at")
        base = f"/panel/accounts/{shop.integrator.pk}/live/"
        way = walk("maria")

        way.over({
            **listed(
                "maria", shop.integrator, but={"upload-draft"}, delivery=busy.pk, point="B", event=dead.pk,
                pickup=shop.integrator.pickup_points.get().pk, token=shop.pk, call=call.pk,
                connection=connection.pk, shop_order=connection.drafts.get().pk,
            ),
            "home": "/panel/",
            "search": f"/panel/search/?q={busy.pk}",
            "request": f"{base}deliveries/request/?again={busy.pk}",
            "cancel": f"{base}deliveries/{shop_history.collected(shop).pk}/cancel/",
            "stop": f"{base}deliveries/{shop_history.tried(shop).pk}/stops/B/",
            "delivery-sandbox": f"{base.replace('live', 'sandbox')}deliveries/{simulated.pk}/",
            "event-failing": f"{base}events/{failing.pk}/",
        })  # fmt: skip  # a table
        way.over({"missing": "/panel/nowhere/"}, status=404)
        page = way.go(f"{base}alerts/")
        page.fill("#id_url", shop_history.URL)
        with page.expect_navigation():
            page.locator("form:has(#id_url) button").first.click()
        way.look("alerts-url")
        page = way.go(f"{base}events/{dead.pk}/")
        page.locator("summary").first.click()  # the request of an attempt
        way.look("event-unfolded")
        page = way.go(f"{base}events/")
        page.locator("[data-opens]").first.click()
        page.locator("dialog[open] button.prime:enabled").wait_for()  # it has counted the events
        way.look("events-recover")
        page.locator("dialog[open] button.prime").click()
        page.locator("#progress h2").wait_for()
        way.look("events-progress")
        page.emulate_media(color_scheme="dark")
        way.over({"overview-dark": base, "delivery-dark": f"{base}deliveries/{busy.pk}/"})
        page.keyboard.press("Control+k")
        page.keyboard.type(str(busy.pk))
        page.locator("#search-found a").wait_for()
        way.look("search-dark")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**{base}deliveries/{busy.pk}/")

        assert way.problems == []

    def test_that_is_new(self, walk, people, shop, seller):
        shop.integrator.tokens.update(revoked_at=timezone.now(), revoked_by=BY)
        people("maria", account=shop.integrator, seller=seller)
        base = f"/panel/accounts/{shop.integrator.pk}/live/"
        way = walk("maria")

        names = ("", "deliveries/", "events/", "tokens/", "webhook/", "refused-calls/")
        way.over({f"empty-{name.strip('/') or 'overview'}": base + name for name in names})
        way.over({"empty-seller": f"/panel/sellers/{seller.pk}/live/"})

        assert way.problems == []

    def test_that_is_suspended(self, walk, people, shop, seller):
        people("maria", account=shop.integrator, seller=seller)
        integrators.suspend(integrator=shop.integrator, reason="Fatura 17 em aberto", by=BY, at=timezone.now())
        sellers.suspend(seller=seller, reason="Fatura 17 em aberto", by=BY, at=timezone.now())
        base = f"/panel/accounts/{shop.integrator.pk}/live/"
        way = walk("maria")

        way.over({
            "suspended-home": "/panel/",
            "suspended-overview": base,
            "suspended-webhook": f"{base}webhook/",
            "suspended-tokens": f"{base}tokens/",
            "suspended-token": f"{base}tokens/{shop.pk}/",
            "suspended-activity": f"{base}activity/",
            "suspended-seller": f"/panel/sellers/{seller.pk}/live/",
        })  # fmt: skip  # a table

        assert way.problems == []


def test_seller(walk, people, seller):
    load_tariff()
    endpoint = endpoints.first(EndpointOfSeller, owner=seller.pk, environment=Environment.LIVE)
    endpoints.set_url(endpoint=endpoint, url=shop_history.URL, by=BY, at=timezone.now())
    order = create_order(seller)
    orders.move(order=order, to=Status.OUT_FOR_DELIVERY, by=BY, at=timezone.now())
    invoice = send_invoice(seller, nfe_xml().encode())
    waiting = [
        create_order(seller, orderId=f"MARKETPLACE-2026-00000{number}", invoice={"number": "7", "key": ACCESS_KEY})
        for number in range(3)
    ]
    manifest = manifests.create(
        seller=seller, environment=Environment.LIVE, orders=waiting[:2], by=BY, at=timezone.now()
    )
    unlinked = send_invoice(seller, nfe_xml(key=ACCESS_KEY[:-2] + "00", items=["PEDIDO-17"]).encode())
    connection = seller_shops.shop(seller=seller)
    seller_connections.try_out(connection=connection, at=timezone.now())
    connection.drafts.update(is_test=False, missing=["missing_number"])
    people("clara", seller=seller)
    keys.issue(seller=seller, by=BY, at=timezone.now())
    call = refused_call(RefusedSellerCall, seller=seller)
    base = f"/panel/sellers/{seller.pk}/live/"
    way = walk("clara")

    way.over({
        **listed(
            "clara", seller, but={"seller-import-draft", "seller-order-correct"},
            connection=connection.pk, shop_order=connection.drafts.get().pk,
            order=order.pk, invoice=invoice.pk, manifest=manifest.pk, event=order.events.latest("pk").pk, call=call.pk,
        ),
        "seller-orders-none": f"{base}orders/?q=nothing",
        "seller-order-correct": f"{base}orders/{waiting[2].pk}/correct/",
        "seller-order-receiver": f"/t/o/{order.tracking_url.rpartition('/')[2]}",
        "seller-invoice-links": f"{base}invoices/{unlinked.pk}/?q=maria",
        "seller-simulator": f"{base}simulator/?origin=01310-100&destination=69005-070&weight=2,5&declared=300",
    })  # fmt: skip  # a table

    assert way.problems == []


class TestStaff:
    def test_alerts_and_personal_data(self, walk, people, shop, seller):
        load_tariff()
        closed(MARIA)
        requested(MARIA)
        create_order(seller)
        people("paula", group="Account staff")
        way = walk("paula")

        elsewhere = {"home", "search", "scan", "setup-new", "seller-new", "reports", "seller-reports"}
        way.over(listed("paula", but=elsewhere))
        way.go("/panel/personal-data/").fill("#id_number", MARIA)
        way.page.click("form.card button.prime")
        way.page.locator("[data-opens=forget]").wait_for()
        way.look("personal-data-found")
        way.page.click("[data-opens=forget]")
        way.look("personal-data-forget")
        way.page.click("dialog[open] button.final")
        way.page.locator("#requests").wait_for()
        way.look("personal-data-requests")

        assert way.problems == []

    def test_streets_while_they_are_copied(self, walk, people, shop):
        people("sofia", superuser=True)
        Streets.objects.create(choice=Choice.COPY, state=CopyState.COPYING, total_bytes=9, copied_bytes=4)
        way = walk("sofia")

        way.over({"streets": "/panel/streets/"})

        assert way.problems == []

    def test_new_accounts_and_sellers(self, walk, people, sink):
        TariffFactory.create()
        people("paula", group="Account staff")
        way = walk("paula")

        page = way.go("/panel/accounts/new/")
        page.fill("#id_name", "Padaria Sol")
        page.fill("#id_position", "-23.561414, -46.655881")
        page.locator("[data-pin] .point").wait_for()
        page.fill("#id_url", sink.url)
        page.fill("#id_email", ANA)
        way.look("setup-new")
        page.click("main button.prime")
        page.wait_for_url("**/sheet/")
        way.look("setup-sheet-link")
        page.locator("[aria-labelledby=tokens] form").first.locator("button").click()
        page.locator("[data-print]").wait_for()
        way.look("setup-sheet")
        page = way.go("/panel/sellers/new/")
        way.look("seller-new")
        page.fill("#id_name", "Livraria Lua")
        page.fill("#id_documents", "11.222.333/0001-81")
        page.click("main button.prime")
        page.locator("#sheet-key-live").wait_for()
        way.look("seller-sheet")

        assert way.problems == []

    def test_reports(self, walk, people, shop, seller, rules):
        rules(driver_share_percent=70)
        today = report(shop)
        create_order(seller)
        people("sara", group="Account staff")
        base = f"/panel/accounts/{shop.integrator.pk}/live/report/"
        period = f"?since={today - timedelta(days=20)}&until={today}"
        way = walk("sara")

        way.over({
            "report-of-all": f"/panel/reports/{period}",
            "report-of-sellers": f"/panel/reports/sellers/{period}",
            "report": f"{base}{period}",
            "report-year": f"{base}?since={today - timedelta(days=300)}&until={today}",
            "report-deliveries": f"{base}deliveries/{period}",
            "report-wrong": f"{base}?since={today}&until={today - timedelta(days=1)}",
            "report-empty": f"{base}?since=2020-01-01&until=2020-01-31",
        })  # fmt: skip  # a table

        assert way.problems == []


def report(shop):
    """Deliveries of two accounts and two drivers, of today and the last days, of every ending. Returns today."""
    now = timezone.now()
    own = DeliveryFactory.create(token=shop)
    other = DeliveryFactory.create(token__integrator__name="Farmácia Estrela da Manhã de Pinheiros")
    ana, bruno = DriverFactory.create(name="Ana Lima"), DriverFactory.create(name="Bruno Reis")
    for pattern, driver, factor in ((own, ana, 1), (own, bruno, 70), (other, bruno, 3)):
        rows = [
            Ended(now - timedelta(days=days), ending, price=pattern.shipping_value * factor * (days + 1))
            for days in range(4)
            for ending in Ending
        ]
        insert(pattern, *rows, driver=driver)
    return timezone.localdate(now)


def test_drivers(walk, people):
    people("dora", group="Dispatchers")
    driver = DriverFactory.create(name="Ana Lima de Albuquerque e Souza", phone="+55 11 98888-0000", at_point=PICKUP)
    token = driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())
    driver_devices.log_in(token=token, phone="Samsung Internet, Android", language="pt-br", at=timezone.now())
    DeliveryFactory.create(accepted=True, driver=driver)
    way = walk("dora")

    way.over(listed("dora", but={"board", "scan", "home", "search"}, driver=driver.pk))
    way.go(f"/panel/drivers/{driver.pk}/").locator("form[action$='/link/'] button").click()
    way.page.locator(".qr").wait_for()
    way.look("driver-link")

    assert way.problems == []


@IN_BOTH_LANGUAGES
def test_documentation(walk):
    way = walk()

    way.over({f"docs-{name or 'first'}": pages.url(name) for name in sorted(pages.NAMES)})
    way.over({"docs-error": "/docs/errors/rate_limited", "docs-search": "/docs/search?q=webhook"})

    assert way.problems == []


class TestLogIn:
    @pytest.fixture
    def link(self, mailbox, settings, live_server):
        """The path of the link in the message that was sent last."""
        settings.SITE_URL = live_server.url

        def newest():
            sending.send_due()
            return re.findall(rf"{live_server.url}(\S+)", smtp.body_of(mailbox.messages[-1]))[0]

        return newest

    def test_by_an_invitation(self, walk, people, shop, settings, link):
        people("maria", account=shop.integrator)
        people("bia")
        owner, way = walk("maria"), walk()
        team = f"/panel/accounts/{shop.integrator.pk}/live/team/"
        page = owner.go(team)
        page.fill("#id_email", ANA)
        page.click("main button.prime")
        page.locator("form[action*='/invitations/']").first.wait_for()
        owner.look("team-invited")
        path = link()
        way.over({"login": "/account/login/", "invitation": path})
        page = way.page
        page.fill("#id_name", "Ana Lima")
        page.fill("#id_password1", WORDS)
        page.fill("#id_password2", WORDS)
        page.click("main button.prime")
        page.wait_for_url("**/panel/**")
        way.look("joined")
        way.over({
            "sessions": "/account/sessions/",
            "own-account": "/account/",
            "two-factor": "/account/two-factor/",
            "two-factor-app": "/account/two-factor/app/",
            "password": "/account/password/",
        })  # fmt: skip  # a table
        another = walk("bia")
        another.over({"invitation-used": path}, status=410)
        settings.EMAIL_URL = ""
        page = owner.go(team)
        owner.look("team-no-mail")
        page.fill("#id_email", "caio@example.com")
        page.click("main button.prime")
        page.locator("#invitation-link").wait_for()
        owner.look("team-link")
        forwarded = invitations.invite(
            account=shop.integrator, email="eva@example.com", role=Role.MEMBER,
            by=User.objects.get(username="maria"), language="en", at=timezone.now(),
        )  # fmt: skip  # short lines
        another.over({"invitation-forwarded": forwarded.path})

        assert owner.problems + way.problems + another.problems == []

    def test_with_a_forgotten_password(self, walk, people, link):
        bia = people("bia")
        EmailAddress.objects.create(user=bia, email="bia@example.com", verified=True, primary=True)
        way = walk()

        log_in(way, "bia", password="wrong")  # pragma: allowlist secret  # of a test
        way.page.locator(".error, .errorlist").first.wait_for()
        way.look("login-refused")
        way.over({"password-forgotten": "/account/password/forgotten/"})
        way.page.fill("#id_email", "bia@example.com")
        way.page.click("main button.prime")
        way.page.wait_for_url("**/forgotten/sent/")
        way.look("password-sent")
        page = way.go(link())
        way.look("password-new")
        page.fill("#id_password1", WORDS)
        page.fill("#id_password2", WORDS)
        page.click("main button.prime")
        page.wait_for_url("**/reset/done/")
        way.look("password-done")

        assert way.problems == []

    def test_with_a_second_factor(self, walk, people, settings):
        settings.REQUIRE_TWO_FACTOR = True
        settings.MFA_TOTP_TOLERANCE = 1  # a code may end before the button is pressed
        ana = people("ana", superuser=True)
        dora = people("dora", group="Dispatchers")
        InitialPassword.objects.create(user=dora)
        admin_, way, again = walk("ana"), walk(), walk()
        trust(admin_.browser, ana)

        admin_.over({"person-without-second-factor": f"/admin/auth/user/{dora.pk}/change/"})
        with admin_.page.expect_navigation():
            admin_.page.click("#content button.prime")
        with admin_.page.expect_navigation():
            admin_.page.click("#content-main button")
        code = admin_.page.text_content("code.body")
        admin_.look("enrolment-code")
        log_in(way, "dora")
        way.page.wait_for_url("**/two-factor/app/**")
        secret = way.page.text_content("#authenticator_secret")
        way.page.fill("#id_enrolment_code", "wrong")
        way.page.fill("#id_code", code_of(secret))
        with way.page.expect_navigation():
            way.page.click("main button.prime")
        way.look("enrolment-refused")
        secret = way.page.text_content("#authenticator_secret")
        way.page.fill("#id_enrolment_code", code)
        way.page.fill("#id_code", code_of(secret))
        way.page.click("main button.prime")
        way.page.wait_for_url("**/two-factor/recovery/")
        way.look("recovery-codes")
        way.over({"second-factor-history": "/account/two-factor/"})
        log_in(again, "dora")
        again.page.wait_for_url("**/two-factor/code/**")
        again.look("second-factor")
        again.page.fill("#id_code", code_of(secret))
        again.page.locator("main button.prime").first.click()
        again.page.wait_for_url("**/account/password/**")
        again.look("initial-password")

        assert admin_.problems + way.problems + again.problems == []


def log_in(way, name, password=PASSWORD):
    page = way.go("/account/login/")
    page.fill("#id_login", name)
    page.fill("#id_password", password)
    page.click("main button.prime")


def trust(browser, user):
    """Note a second factor in the browser's session."""
    (key,) = (each["value"] for each in browser.page.context.cookies() if each["name"] == "sessionid")
    session = SessionStore(key)
    session["account_authentication_methods"] = [{"method": "mfa", "at": 0}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()


class TestAdmin:
    def test_every_list_and_a_page_of_each_kind(self, walk, people, shop, seller):
        load_tariff()
        own = TariffFactory.create(integrator=IntegratorFactory.create(name="Livraria Lua"), vehicle_type="CAR")
        with pghistory.context(by="user paula"):
            FreightRate.objects.update(base_centavos=F("base_centavos") + 100)
            Tariff.objects.filter(pk=own.pk).update(price_per_km=3)
        driver = DriverFactory.create(name="Ana", at_point=PICKUP)
        delivery = DeliveryFactory.create(token=shop, payload=shop_history.payload(0, 1), collected=True, driver=driver)
        order = create_order(seller)
        rate = FreightRate.objects.get(zone="local", service="economy")
        root = people("root", superuser=True)
        way = walk("root")

        way.over({"admin-index": "/admin/"})
        way.over({
            f"admin-{model._meta.model_name}": f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
            for model in admin.site._registry
        })  # fmt: skip  # a table
        way.over({
            "admin-one-delivery": f"/admin/delivery/delivery/{delivery.pk}/change/",
            "admin-one-event": f"/admin/delivery/webhookevent/{delivery.events.first().pk}/change/",
            "admin-one-driver": f"/admin/delivery/driver/{driver.pk}/change/",
            "admin-one-integrator": f"/admin/delivery/integrator/{shop.integrator.pk}/change/",
            "admin-one-order": f"/admin/integration/order/{order.pk}/change/",
            "admin-one-rate": f"/admin/integration/freightrate/{rate.pk}/change/",
            "admin-one-tariff": f"/admin/delivery/tariff/{own.pk}/change/",
            "admin-one-seller": f"/admin/integration/seller/{seller.pk}/change/",
            "admin-new-token": "/admin/delivery/token/add/",
            "admin-one-person": f"/admin/auth/user/{root.pk}/change/",
        })  # fmt: skip  # a table

        assert way.problems == []

    def test_import_and_preview_of_prices_and_suspension(self, walk, people, shop, seller):
        load_tariff()
        people("paula", group="Account staff")
        headings = "serviço;zona;origem;destino;até 1 kg (R$);kg adicional (R$);prazo (dias úteis)\r\n"
        way = walk("paula")

        for name, extra in {"faults": "abc", "preview": "1,90"}.items():
            page = way.go("/admin/integration/freightrate/import/")
            content = f"{headings}econômico;local;capital;capital;44,90;{extra};3\r\n".encode("windows-1252")
            page.set_input_files("#id_import_file", {"name": "t.csv", "mimeType": "text/csv", "buffer": content})
            page.locator("form:has(#id_import_file) button").first.click()
            page.locator(f"#{name}").wait_for()
            way.look(f"admin-import-{name}")
        page = way.go("/admin/integration/freightparameters/1/change/")
        page.fill("#id_minimum_charge_centavos", "99,00")
        page.press("#id_minimum_charge_centavos", "Enter")
        page.locator("#preview-title").wait_for()
        way.look("admin-preview")
        for area in ("delivery/integrator", "integration/seller"):
            page = way.go(f"/admin/{area}/")
            page.check("input.action-select")
            page.select_option("select[name=action]", "suspend")
            with page.expect_navigation():
                page.click("button[name=index]")
            page.fill("input[name=reason]", "Fatura 17 em aberto")
            way.look(f"admin-suspend-{area.split('/')[1]}")
            with page.expect_navigation():
                page.click("button.final")
            way.look(f"admin-suspended-{area.split('/')[1]}")

        assert way.problems == []
