"""Which test fails without each lock of the production code. `tests.test_locks` compares this with the code.

A place is `module:function` or `module:CONSTANT`, with as many tests as there are locks. Functions that lock for others
stand here, and so do their callers, because either can be left out.
"""

_DELIVERY = "tests/delivery/actions/test_overlaps.py::"
_ACCESS = "tests/access/test_overlaps.py::"
_SELLER = "tests/integration/test_overlaps.py::"
_CARRIERS = "tests/integration/carriers/test_actions.py::"
_THREADS = "tests/test_thread_locks.py::"
_ATTEMPTS = "tests/access/test_log_in_limits.py::test_"
_FEED = "tests/delivery/webhooks/test_feed_concurrency.py::"

_BATCHES = f"{_DELIVERY}TestEndpoint::test_counts_the_failures_of_two_batches"
_DRAFT = "tests/delivery/connections/test_drafts.py::TestAtTheSameTime::test_"
_SELLER_DRAFT = "tests/integration/connections/test_orders.py::TestAtTheSameTime::test_"
_DUTY_DURING_A_ROUTE = f"{_DELIVERY}TestDuty::test_does_not_end_for_a_driver_who_has_just_taken_a_route"
_FIRST_OF_A_USER = f"{_ACCESS}TestFirstRowOfAUser::test_is_made_once"
_FIRST_ROW = f"{_DELIVERY}TestFirstRow::test_is_written_once_by_two_that_find_none"
_GOT_ONCE = "tests/test_twice_at_once.py::test_is_got_once"
_INVITATION = f"{_ACCESS}TestInvitation::test_is_read_again_after_a_change_that_was_not_committed"
_KEYS = f"{_SELLER}TestKeys::test_are_no_more_than_allowed"
_LAST_PHONE = f"{_DELIVERY}TestDuty::test_is_reported_by_the_last_phone_only"
_LINKED = f"{_SELLER}TestOrdersAndInvoices::test_are_linked_whichever_is_first"
_LINKED_BY_HAND = f"{_SELLER}TestOrdersAndInvoices::test_are_linked_by_hand_once"
_OF_ALERTS = f"{_DELIVERY}TestAlerts::test_are_tried_no_more_often_than_allowed"
_OF_AN_ENDPOINT = f"{_DELIVERY}TestEndpoint::test_keeps_what_the_change_before_has_written"
_OF_A_DELIVERY = f"{_DELIVERY}TestMoveOfADelivery::test_is_compared_with_the_one_before_it"
_OF_A_PERSON = f"{_DELIVERY}TestForgetting::test_of_two_people_of_a_route_leaves_neither_in_its_events"
_CITY = "tests/delivery/places/test_address_imports.py::test_a_city_that_is_being_imported_is_imported_after_that"
_PASSES_OVER = f"{_DELIVERY}TestClaimOfADriver::test_passes_over_a_driver_who_is_being_claimed"
_PICKUP_POINT = f"{_DELIVERY}TestPickupPoint::test_that_has_just_been_removed_is_not_changed"
_POSITIONS = f"{_DELIVERY}TestReportOfPositions::test_is_compared_with_the_one_before_it"
_REMOVED = f"{_DELIVERY}TestEndpoint::test_that_has_just_been_removed_is_not_changed"
_SETTLED_MEANWHILE = (
    "tests/common/webhooks/test_settlement.py::TestConcurrentChange::"
    "test_the_outcome_of_a_delivery_that_is_being_changed_is_returned_and_the_others_are_written"
)
_STARTED_ONCE = f"{_THREADS}TestThreadOfAProcess::test_is_started_once"
_STEPS = "tests/delivery/sandbox/test_simulations.py::TestSeveralProcesses::test_make_each_step_once"
_TEAM = f"{_ACCESS}TestMembership::test_is_changed_by_who_is_still_an_owner"

# Why the absence of a lock cannot be noticed.
_BY_MIGRATIONS = "migrations run one at a time"
_ORDER_ONLY = (
    "before it reads what it changes, an update locks the same rows; this gives them one order, against deadlocks"
)
_UNDER_THE_ACCOUNT = "all who write this row have locked the account"
_UNDER_THE_DELIVERY = "all who write this row have locked the delivery"
NOT_NOTICED = {_BY_MIGRATIONS, _ORDER_ONLY, _UNDER_THE_ACCOUNT, _UNDER_THE_DELIVERY}

LOCKS: dict[str, tuple[str, ...]] = {
    "access/admin.py:PasswordForm.save": (_FIRST_OF_A_USER,),
    "access/enrolment.py:issue": (_FIRST_OF_A_USER,),
    "access/invitations.py:_join": (_UNDER_THE_ACCOUNT,),
    "access/invitations.py:_lock_open": (_INVITATION,),
    "access/invitations.py:_verify": (
        f"{_ACCESS}TestInvitation::test_of_two_accounts_verify_an_address_at_the_same_moment",
    ),
    "access/invitations.py:accept": (_INVITATION,),
    "access/invitations.py:invite": (_INVITATION,),
    "access/invitations.py:resend": (_INVITATION,),
    "access/invitations.py:revoke": (_INVITATION,),
    "access/invitations.py:sign_up": (_INVITATION,),
    "access/roles.py:synchronise": (_BY_MIGRATIONS,),
    "access/teams.py:change_right": (f"{_ACCESS}TestMembership::test_gets_a_right_from_who_is_still_an_owner",),
    "access/teams.py:change_role": (_TEAM,),
    "access/teams.py:lock": (_TEAM,),
    "access/teams.py:lock_row": (_TEAM,),
    "access/teams.py:remove": (_TEAM,),
    "common/pages/attempts.py:_COUNT": (f"{_ATTEMPTS}fifty_wrong_passwords_at_once_are_no_more_than_the_limit",),
    "common/pages/attempts.py:_PRUNE": (f"{_ATTEMPTS}pruning_does_not_wait_for_a_counter_in_use",),
    "common/workers/wake_up.py:BackgroundWork.__init__": (
        f"{_THREADS}TestThreadOfAProcess::test_for_background_work_is_started_once",
    ),
    "common/admin/tabular_import.py:_AllRows.__init__": (
        f"{_SELLER}TestImport::test_compares_with_what_was_changed_meanwhile",
    ),
    "common/api/idempotency.py:_RESERVE": (_GOT_ONCE,),
    "common/postgresql/updates.py:touch": (_ORDER_ONLY,),
    "common/postgresql/batches.py:_claim": (
        "tests/common/mail/test_sending.py::TestSendDue::test_is_claimed_by_one_worker_and_not_waited_for_by_others",
    ),
    "common/accounts.py:keeps_an_owner": (f"{_ACCESS}TestMembership::test_of_the_last_owner_is_kept_by_the_database",),
    "common/workers/deadlines.py:BoundedCalls.__init__": (
        f"{_THREADS}TestBoundedCalls::test_are_no_more_than_allowed",
    ),
    "common/observability/metrics.py:SharedCounts.__init__": (f"{_THREADS}TestSharedCounts::test_add_each_count_once",),
    "common/api/rate_limit.py:Limiter.__init__": (
        f"{_THREADS}TestRefusalsOfALimiter::test_are_not_changed_while_the_oldest_is_looked_for",
    ),
    "common/workers/moments.py:_update": (
        f"{_DELIVERY}TestCorrectionOfMoments::test_passes_over_rows_that_are_being_changed",
    ),
    "common/workers/moments.py:pull_back": (
        "tests/config/test_moments.py::TestPullBack::test_is_one_query_while_the_clocks_go_on",
    ),
    "common/api/refused_calls.py:Recorder.__init__": (f"{_THREADS}TestCountOfCallsOverALimit::test_loses_none",),
    "common/api/refused_calls.py:Recorder._add": (
        "tests/config/test_counts_of_refused_calls.py::TestBounds::test_leave_calls_out_over_the_number_of_an_hour",
    ),
    "config/management/commands/reencrypt_credentials.py:Column.rewrite": (
        "tests/config/reencryption/test_concurrency.py::TestBesideARunningService::test_leaves_a_locked_row_and_says_so",
    ),
    "delivery/alerts/actions.py:_lock": (_OF_ALERTS, _FIRST_ROW),
    "common/webhooks/health.py:claim": (
        f"{_DELIVERY}TestAlerts::test_about_a_change_are_reported_once_without_waiting",
        _FIRST_ROW,
    ),
    "delivery/places/addresses.py:_remember": (_FIRST_ROW,),
    "delivery/alerts/actions.py:choose": (_FIRST_ROW,),
    "delivery/alerts/actions.py:send_test": (_OF_ALERTS,),
    "delivery/alerts/actions.py:set_times": (_FIRST_ROW,),
    "delivery/alerts/actions.py:set_url": (
        f"{_DELIVERY}TestAlerts::test_keep_what_was_reported_while_their_url_is_set",
    ),
    "delivery/actions/arrivals.py:_write": (
        "tests/delivery/actions/test_arrivals.py::TestRenew::test_computes_again_after_a_move_of_the_route",
    ),
    "delivery/actions/deliveries.py:accept": (_OF_A_DELIVERY,),
    "delivery/actions/deliveries.py:offer": (_OF_A_DELIVERY,),
    "delivery/actions/deliveries.py:recall": (_OF_A_DELIVERY,),
    "delivery/actions/schedule.py:_offer_or_note": (
        f"{_DELIVERY}TestScheduledOffer::test_is_made_by_one_of_two_workers",
    ),
    "delivery/actions/deliveries.py:cancel": (_OF_A_DELIVERY,),
    "delivery/actions/deliveries.py:charge": (_OF_A_DELIVERY,),
    "delivery/actions/deliveries.py:collect": (_OF_A_DELIVERY,),
    "delivery/actions/deliveries.py:open_again": (_OF_A_DELIVERY,),
    "delivery/actions/deliveries.py:deliver": (_OF_A_DELIVERY,),
    "delivery/actions/deliveries.py:expire": (_OF_A_DELIVERY,),
    "delivery/actions/deliveries.py:expire_early": (_OF_A_DELIVERY,),
    "delivery/actions/goods.py:record": (_UNDER_THE_DELIVERY,),
    "delivery/actions/drivers.py:decline": (
        "tests/delivery/drivers/test_offers.py::TestDecline::test_hides_the_offer_from_this_driver_alone",
    ),
    "delivery/places/address_imports.py:_write": (_CITY,),
    "delivery/receivers/actions.py:note": (
        "tests/delivery/receivers/test_page.py::TestNote::test_replaces_the_one_before",
    ),
    "delivery/actions/deliveries.py:fail": (_OF_A_DELIVERY,),
    "integration/connections/actions.py:connect": (f"{_SELLER_DRAFT}a_seller_connects_no_more_shops_than_it_may",),
    "integration/connections/drafts.py:look_again": (f"{_SELLER_DRAFT}two_clicks_make_one_order",),
    "integration/connections/drafts.py:make": (f"{_SELLER_DRAFT}two_clicks_make_one_order",),
    "delivery/connections/actions.py:connect": (f"{_DRAFT}an_account_connects_no_more_shops_than_it_may",),
    "common/shops/drafts.py:Drafts.lock": (f"{_DRAFT}two_requests_make_one_delivery",),
    "common/postgresql/compiled_queries.py:insert_unless_there": (f"{_DRAFT}a_new_order_makes_one_draft",),
    "common/shops/drafts.py:Drafts._by_order": (f"{_DRAFT}an_order_is_told_after_the_other",),
    "common/shops/drafts.py:Drafts.drop": (f"{_DRAFT}a_request_and_another_end_are_one_after_the_other",),
    "delivery/connections/drafts.py:edit": (f"{_DRAFT}a_request_is_not_changed_any_more",),
    "delivery/connections/drafts.py:request": (f"{_DRAFT}two_requests_make_one_delivery",),
    "common/shops/drafts.py:Drafts.take": (
        f"{_DRAFT}an_order_is_told_after_the_other",
        f"{_DRAFT}a_new_order_makes_one_draft",
    ),
    "common/shops/drafts.py:Drafts.take_back": (f"{_DRAFT}a_request_and_another_end_are_one_after_the_other",),
    "delivery/drivers/devices.py:_lock": (_LAST_PHONE,),
    "delivery/accounts/pickup_points.py:_lock": (_PICKUP_POINT,),
    "delivery/accounts/pickup_points.py:activate": (_PICKUP_POINT,),
    "delivery/accounts/pickup_points.py:change": (_PICKUP_POINT,),
    "delivery/accounts/pickup_points.py:deactivate": (_PICKUP_POINT,),
    "delivery/accounts/pickup_points.py:remove": (_PICKUP_POINT,),
    "delivery/drivers/devices.py:end": (_DUTY_DURING_A_ROUTE,),
    "delivery/drivers/devices.py:go_off_duty": (_DUTY_DURING_A_ROUTE,),
    "delivery/drivers/devices.py:go_on_duty": (_LAST_PHONE,),
    "delivery/drivers/devices.py:log_in": (_GOT_ONCE,),
    "delivery/drivers/devices.py:_replace": (_ORDER_ONLY,),
    "delivery/drivers/devices.py:permit_positions": (
        f"{_DELIVERY}TestDuty::test_is_reported_by_the_first_of_two_phones_that_begin",
    ),
    "delivery/drivers/moves.py:perform": (
        f"{_DELIVERY}TestReportOfAMove::test_sees_that_the_route_has_just_passed_to_another_driver",
    ),
    "delivery/drivers/moves.py:_LOCKED_DRIVER": (
        f"{_DELIVERY}TestReportOfAMove::test_is_made_once_although_it_is_sent_again_for_another_delivery",
    ),
    "delivery/actions/drivers.py:_lock_first": (_PASSES_OVER,),
    "delivery/actions/drivers.py:claim": (
        f"{_DELIVERY}TestClaimOfADriver::test_sees_the_route_that_the_driver_has_just_taken",
    ),
    "delivery/actions/drivers.py:claim_first_eligible": (_PASSES_OVER,),
    "delivery/actions/drivers.py:claim_simulated": (_PASSES_OVER,),
    "delivery/actions/drivers.py:save": (
        f"{_DELIVERY}TestDriver::test_keeps_the_vehicle_of_a_route_that_has_just_been_taken",
    ),
    "common/webhooks/endpoints.py:lock_of_active": (_OF_AN_ENDPOINT,),
    "common/webhooks/endpoints.py:first": (f"{_SELLER}TestEndpoint::test_is_made_once_by_two_who_need_it",),
    "common/webhooks/endpoints.py:add": (
        f"{_DELIVERY}TestEndpoint::test_gets_a_number_of_its_own_beside_one_that_is_being_added",
    ),
    "common/webhooks/endpoints.py:remove": (_REMOVED,),
    "common/webhooks/endpoints.py:rotate_secret": (_OF_AN_ENDPOINT,),
    "common/webhooks/endpoints.py:send_test": (_OF_AN_ENDPOINT,),
    "common/webhooks/endpoints.py:set_enabled": (_OF_AN_ENDPOINT,),
    "common/webhooks/endpoints.py:set_filter": (_REMOVED,),
    "common/webhooks/endpoints.py:set_up": (
        f"{_DELIVERY}TestEndpoint::test_has_its_secret_replaced_by_a_set_up_after_another_has_just_done_so",
    ),
    "common/webhooks/endpoints.py:store_url": (_OF_AN_ENDPOINT,),
    "common/webhooks/replays.py:_locked_items": (f"{_DELIVERY}TestReplay::test_leaves_what_a_worker_has_just_claimed",),
    "common/webhooks/replays.py:_release_probes": (
        f"{_DELIVERY}TestReplay::test_keeps_what_the_breaker_has_just_counted",
    ),
    "common/webhooks/replays.py:_replay_batch": (f"{_DELIVERY}TestReplay::test_sends_an_event_again_once",),
    "delivery/actions/forgetting.py:_forget_whole": (_ORDER_ONLY,),
    "delivery/actions/forgetting.py:_forget_pickups": (_ORDER_ONLY,),
    "delivery/actions/forgetting.py:_forget_those": (_OF_A_PERSON,),
    "delivery/actions/forgetting.py:_lock": (_OF_A_PERSON,),
    "delivery/actions/forgetting.py:_forget_rows": (
        f"{_DELIVERY}TestForgetting::test_leaves_a_driver_who_has_just_been_made_active",
    ),
    "delivery/actions/forgetting.py:forget_batch_of": (_OF_A_PERSON,),
    "delivery/accounts/integrators.py:change": (f"{_DELIVERY}TestAccount::test_is_audited_once_for_the_same_change",),
    "delivery/accounts/integrators.py:set_policy": (f"{_DELIVERY}TestAccount::test_has_its_policy_audited_once",),
    "delivery/actions/stops.py:change": (_OF_A_DELIVERY,),
    "delivery/actions/stops.py:instruct": (_OF_A_DELIVERY,),
    "delivery/drivers/devices.py:receive_positions": (_POSITIONS, _POSITIONS),
    "delivery/drivers/positions.py:_STORE": (
        "tests/delivery/drivers/test_positions.py::TestAtOnce::test_the_same_ones_are_recorded_once",
    ),
    "delivery/actions/proofs.py:_insert": (
        "tests/delivery/actions/test_proof_photos.py::TestAdd::test_refuses_more_photos_of_a_stop_than_are_kept",
    ),
    "delivery/actions/proofs.py:_check": (_UNDER_THE_DELIVERY, _UNDER_THE_DELIVERY),
    "delivery/actions/proofs.py:_count_wrong_pin": (_UNDER_THE_DELIVERY,),
    "delivery/actions/proofs.py:deliver": (
        "tests/delivery/actions/test_proofs.py::TestReportedPins::test_beside_each_other_have_five_tries_together",
    ),
    "delivery/drivers/devices.py:subscribe": (_FIRST_ROW,),
    "delivery/receivers/actions.py:addresses": (_FIRST_ROW,),
    "common/simulation/rows.py:Simulator._advance_one": (_STEPS,),
    "delivery/sandbox/simulated_driver.py:accept": (
        f"{_DELIVERY}TestClaimOfADriver::test_by_the_simulator_comes_after_the_lock_of_the_delivery",
    ),
    "delivery/accounts/tokens.py:_issue": (
        "tests/delivery/accounts/test_tokens.py::test_the_limit_holds_for_tokens_issued_concurrently",
    ),
    "delivery/accounts/tokens.py:rotate": (
        f"{_DELIVERY}TestRotationOfAToken::test_sees_that_it_has_just_been_revoked",
    ),
    "delivery/actions/transitions.py:begin": (_OF_A_DELIVERY,),
    "delivery/actions/transitions.py:_LOCKED": (_OF_A_DELIVERY,),
    "delivery/actions/transitions.py:lock": (_OF_A_DELIVERY,),
    "delivery/actions/transitions.py:lock_unless_busy": (
        f"{_DELIVERY}TestScheduledOffer::test_is_not_made_of_a_route_that_has_just_been_cancelled",
    ),
    "delivery/models/driver.py:DriverPosition.Meta": (
        "tests/delivery/actions/test_positions.py::TestRecordPositions::test_writes_the_latest_position_once_whatever_the_order",
    ),
    "common/simulation/rows.py:SimulationQuerySet.lock_due": (_STEPS,),
    "delivery/models/stop.py:_LOCK": (
        "tests/delivery/api/test_repeated_external_ids.py::TestThirtyCallsAtOnce::test_make_one_delivery",
    ),
    "delivery/models/stop.py:Stop.Meta": (f"{_DELIVERY}TestMoveOfADelivery::test_of_an_acceptance_keeps_its_stops",),
    "delivery/photos.py:_encoding": (
        "tests/delivery/test_photos.py::TestRefusal::test_of_a_second_photo_while_one_is_encoded",
    ),
    "common/webhooks/sender.py:BackgroundSender.__init__": (_STARTED_ONCE,),
    "common/webhooks/feed.py:_ASSIGN": (
        "tests/delivery/webhooks/test_feed_concurrency.py::test_an_event_that_is_being_settled_is_left_with_those_after_it",
    ),
    "common/webhooks/feed.py:_TRY_LOCK": (f"{_FEED}TestWhatCommitsLate::test_is_left_while_another_reader_assigns",),
    "common/webhooks/settlement.py:_LOCK": (
        "tests/common/webhooks/test_settlement_locks.py::TestLock::test_leaves_other_items_of_the_same_claim",
    ),
    "common/webhooks/queue.py:bring_forward": (
        "tests/common/webhooks/test_bring_forward.py::TestBringForward::test_locks_items_in_the_sequence_of_replays",
    ),
    "common/webhooks/queue.py:_ADD": (_SETTLED_MEANWHILE,),
    "common/webhooks/queue.py:_ADD_AGAIN": (
        f"{_DELIVERY}TestReplay::test_keeps_a_worker_from_ending_the_item_of_a_move_made_meanwhile",
    ),
    "common/webhooks/claims.py:_CLAIM": (
        "tests/common/webhooks/test_queue.py::TestClaim::test_does_not_wait_for_an_item_that_another_transaction_has_locked",
    ),
    "common/webhooks/claims.py:_RENEW": (
        "tests/common/webhooks/test_leases.py::TestRenew::test_does_not_wait_for_an_item_that_another_transaction_has_locked",
    ),
    "common/webhooks/claims.py:_SERIALIZE_CLAIMS": (
        "tests/common/webhooks/test_queue.py::TestClaim::test_keeps_the_limit_of_four_when_workers_claim_concurrently",
    ),
    "common/webhooks/settlement.py:_lock_endpoints": (_BATCHES,),
    "common/webhooks/settlement.py:_LOCK_PLAIN": (_SETTLED_MEANWHILE,),
    "common/webhooks/settlement.py:_WRITE": (
        "tests/common/webhooks/test_settlement_locks.py::TestSettle::test_writes_a_success_without_waiting_for_its_endpoint",
    ),
    "common/webhooks/settlement.py:_settle_others": (_SETTLED_MEANWHILE, _BATCHES),
    "integration/actions/webhooks.py:set_authentication": (
        f"{_SELLER}TestEndpoint::test_that_has_just_been_removed_is_not_changed",
    ),
    "integration/actions/forgetting.py:_FORGET_TEXTS_IN_EVENTS": (
        f"{_SELLER}TestForgetting::test_locks_events_in_the_sequence_of_replays",
    ),
    "integration/actions/forgetting.py:_forget": (f"{_SELLER}TestForgetting::test_counts_an_order_once",),
    "integration/carriers/actions.py:assign": (f"{_CARRIERS}TestAssign::test_is_written_once_by_two_at_once",),
    "integration/carriers/actions.py:issue_key": (f"{_CARRIERS}TestKeys::test_are_no_more_than_allowed",),
    "integration/carriers/movements.py:_INSERT": (
        "tests/integration/carriers/test_movements.py::TestTwoCallsAtOnce::test_give_an_id_to_one_order",
    ),
    "integration/invoices/actions.py:receive": (
        f"{_SELLER}TestOrdersAndInvoices::test_are_stored_once",
        "tests/integration/api/test_invoices.py::TestUpload::test_of_two_notes_that_do_not_fit_together_takes_none",
    ),
    "integration/invoices/actions.py:link_by_hand": (_LINKED_BY_HAND,),
    "integration/invoices/actions.py:mark_void": (
        f"{_SELLER}TestOrdersAndInvoices::test_are_not_linked_by_hand_while_marked_as_void",
    ),
    "integration/invoices/actions.py:unlink_by_hand": (
        f"{_SELLER}TestOrdersAndInvoices::test_are_unlinked_by_hand_once",
    ),
    "integration/accounts/keys.py:issue": (_KEYS,),
    "integration/invoices/actions.py:link": (
        "tests/integration/api/test_invoices.py::TestStanding::test_leaves_codes_that_are_the_orders_own_or_of_another_note",
    ),
    "integration/manifests/actions.py:close": (_ORDER_ONLY,),
    "integration/manifests/actions.py:_locked": (f"{_SELLER}TestManifest::test_takes_an_order_once",),
    "integration/manifests/actions.py:_free": (f"{_SELLER}TestManifest::test_takes_an_order_once",),
    "integration/manifests/actions.py:_locked_with_orders": (
        f"{_SELLER}TestManifest::test_is_closed_with_what_was_added_before",
        f"{_SELLER}TestManifest::test_is_closed_once",
    ),
    "integration/receivers/mails.py:stop": (
        f"{_SELLER}TestMailsToAReceiver::test_are_stopped_once",
        f"{_SELLER}TestMailsToAReceiver::test_are_stopped_with_the_one_of_a_move_that_has_not_seen_it",
    ),
    "integration/receivers/mails.py:withdraw": (
        f"{_SELLER}TestMailsToAReceiver::test_are_kept_if_they_have_just_been_sent",
    ),
    "integration/actions/orders.py:move": (f"{_SELLER}TestOrder::test_is_created_and_cancelled_once",),
    "integration/actions/orders.py:_LOCK": (_LINKED,),
    "integration/actions/orders.py:correct": (
        f"{_SELLER}TestCorrection::test_and_an_invoice_that_is_received_are_linked_whichever_is_first",
        f"{_SELLER}TestCorrection::test_is_refused_once_the_order_does_not_wait",
        "tests/integration/api/test_correct_order.py::TestCorrection::test_is_found_by_what_it_says_now",
    ),
    "integration/webhooks/outbox.py:lock_queue": (_ORDER_ONLY,),
    "integration/webhooks/outbox.py:record_rest": (f"{_SELLER}TestFeed::test_leaves_an_order_that_is_being_moved",),
    "integration/models/seller.py:Seller.locked": (_KEYS,),
    "common/cached.py:Cached.__init__": (
        "tests/common/test_cached.py::test_threads_wait_for_the_first_value_and_compute_it_once",
    ),
    "config/monitoring/readiness.py:_Group.__init__": (f"{_THREADS}TestChecksOfAServer::test_are_begun_once",),
    "panel/dispatch/board.py:_telling": (f"{_THREADS}TestBoards::test_that_are_told_together_compute_a_route_once",),
    "access/personal_data.py:carry_out": (
        f"{_SELLER}TestForgetting::test_of_a_request_counts_a_batch_once_that_two_runs_begin",
    ),
}
