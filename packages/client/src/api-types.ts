// Written by tools/generate-docs.ts from the document of the API, services/gateway/openapi.json.
export interface components {
    schemas: {
        /** @description An asset with its rate and network fee of this moment. */
        Asset: {
            /** @description The number of the asset. */
            id: number;
            symbol: components["schemas"]["AssetSymbol"];
            /** @description The name of the asset. */
            name: string;
            /** @description How many decimals an amount of the asset may have. */
            decimals: number;
            /**
             * @description The network of the asset.
             * @enum {string}
             */
            chain: "bitcoin" | "ethereum" | "solana" | "base" | "polygon";
            /**
             * @description Whether the network itself issues it, or a contract on it.
             * @enum {string}
             */
            type: "native" | "token";
            /** @description US dollars for one whole asset now. */
            usd_rate: string;
            /** @description What a payout costs beside its amount, in the asset. */
            network_fee: string;
            /** @description How many confirmations make a payment final. */
            min_confirmations: number;
        };
        /**
         * @description The symbol of an asset.
         * @enum {string}
         */
        AssetSymbol: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
        /** @description An entry of the audit log. It is never changed or deleted. */
        AuditEntry: {
            /** @description The hash of the entry in the audit log of the operator. */
            id: string;
            /**
             * Format: date-time
             * @description When it was written.
             */
            created_at: string;
            /** @description Who has done it. */
            actor: {
                /**
                 * @description What it is.
                 * @enum {string}
                 */
                type: "token" | "person" | "operator";
                /** @description The id of the token or the person; null of the operator. */
                id: string | null;
                /** @description The name of the token or the person, where it is still known. */
                name: string | null;
            };
            /** @description What was done, such as `token.created`. */
            action: string;
            /** @description To what, where that is no token: an id, a name, or method and path of a request. */
            subject: string | null;
            /** @description The API token that it is about, or null. */
            token_id: string | null;
            /** @description More about it, such as the scopes of a token or the id of a request. */
            detail: string | null;
            /** @description The address of the client, or null. */
            address: string | null;
        };
        /** @description A page of a list. */
        AuditEntryPage: {
            /** @description The items, newest first. */
            data: components["schemas"]["AuditEntry"][];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description A rule that pays out all of the balance of an asset. */
        AutomaticPayout: {
            /**
             * @description Always `automatic_payout`.
             * @constant
             */
            type: "automatic_payout";
            asset: components["schemas"]["ReducedAsset"];
            /** @description The recipient. */
            address: string;
            /**
             * @description `daily`, or whenever the balance covers the threshold.
             * @enum {string}
             */
            schedule: "daily" | "threshold";
            /** @description The least amount that is worth a payout, or null. */
            threshold: string | null;
            /** @description Whether it pays. */
            enabled: boolean;
            /**
             * Format: date-time
             * @description When it runs next, at the earliest; null while it is disabled.
             */
            next_run_at: string | null;
            /**
             * Format: date-time
             * @description When it ran last, or null.
             */
            last_run_at: string | null;
            /** @description The last payout that it created, or null. */
            last_payout_id: number | null;
            /**
             * @description Why it pays nothing, or less often, now; or null.
             * @enum {string|null}
             */
            last_error: "unavailable" | "insufficient_balance" | "invalid_request" | "cancelled" | "payout_failed" | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
        };
        /** @description An event. */
        AutomaticPayoutEvent: {
            /** @description The id of the event. */
            id: string;
            /**
             * @description The event type.
             * @enum {string}
             */
            event: "automatic_payout.failed";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description Counts the events of the account without a gap. */
            sequence: number;
            /** @description Counts the changes of what it is about. */
            version: number;
            /** @description The automatic payout at that moment. */
            data: components["schemas"]["AutomaticPayout"];
        };
        /** @description The balance of an asset. */
        Balance: {
            asset: components["schemas"]["Asset"];
            /** @description What can be spent, in the asset. */
            balance: string;
            /** @description `balance` in US dollars now. */
            usd_value: string;
            /** @description What belongs to pending payouts. */
            held: string;
        };
        /** @description A movement of a balance. */
        BalanceTransaction: {
            /** @description The id of the balance transaction. */
            id: string;
            /**
             * @description What moved the balance.
             * @enum {string}
             */
            type: "payment" | "payment_reversal" | "payment_recovery" | "unresolved_accepted" | "payout" | "payout_failed" | "payout_voided" | "refund" | "refund_failed" | "refund_voided";
            asset: components["schemas"]["ReducedAsset"];
            /** @description What moved without the network fee. */
            amount: string;
            /** @description The network fee; below zero when it returns. */
            fee: string;
            /** @description What the balance changed by: `amount` less `fee`. */
            net: string;
            /** @description What could be spent of the asset afterwards. */
            balance_after: string;
            /** @description US dollars for one whole asset then, or null. */
            usd_rate: string | null;
            /** @description `net` in US dollars at that rate, or null. */
            usd_value: string | null;
            /** @description What `value` is in. */
            currency: components["schemas"]["Currency"];
            /** @description US dollars for one unit of the currency then, or null. */
            currency_usd_rate: string | null;
            /** @description `net` in the currency, or null. */
            value: string | null;
            /** @description What caused it. */
            source: {
                /**
                 * @description An invoice.
                 * @constant
                 */
                type: "invoice";
                /** @description The id of the invoice. */
                id: string;
            } | {
                /**
                 * @description Unresolved funds, or a payment of an unknown invoice.
                 * @constant
                 */
                type: "deposit";
                /** @description The id of the deposit. */
                id: string;
            } | {
                /**
                 * @description A payout.
                 * @constant
                 */
                type: "payout";
                /** @description The id of the payout. */
                id: number;
            };
            /** @description The payout that moved it, or null. */
            payout_id: number | null;
            /**
             * Format: date-time
             * @description When it was booked.
             */
            created_at: string;
        };
        /** @description A part of the list. */
        BalanceTransactionPage: {
            /** @description The balance transactions. */
            data: components["schemas"]["BalanceTransaction"][];
            /** @description Whether there are more in the direction of the cursor. */
            has_more: boolean;
        };
        /** @description The id of a new payout. */
        CreatedPayout: {
            /** @description What was done, for people. */
            message: string;
            /** @description The payout. */
            data: {
                /** @description The id of the payout. */
                id: number;
            };
        };
        /** @description A new refund. */
        CreatedRefund: {
            /** @description What was done, for people. */
            message: string;
            /** @description The refund, with its claim link. */
            data: {
                /** @description The id of the refund. */
                id: string;
                /**
                 * @description `claimable`: the claim link waits for an address.
                 * @enum {string}
                 */
                status: "claimable" | "pending" | "completed" | "failed" | "expired" | "cancelled";
                /** @description The invoice that it refunds, or null. */
                invoice_id: string | null;
                /** @description The unresolved funds that it pays back, or null. */
                deposit_id: string | null;
                /** @description The amount as you gave it; `deposit`: all that was left of the funds. */
                requested: string;
                /** @description The currency of the invoice, or null. */
                currency: components["schemas"]["Currency"] | null;
                /** @description What it is worth in that currency, or null. */
                amount_fiat: string | null;
                /**
                 * @description At which rate: the locked one of the invoice, or that of its creation.
                 * @enum {string}
                 */
                rate: "then" | "now";
                /** @description At the rate `now`: the rates. Null at the rate `then`. */
                rates_now: components["schemas"]["Rates"] | null;
                /** @description What it pays, in the asset. */
                amount: string;
                /** @description What it takes of what was paid for the invoice, in the asset. */
                share: string;
                asset: components["schemas"]["ReducedAsset"];
                /** @description The payout that pays it, or null. */
                payout_id: number | null;
                /** @description Your own reference, or null. */
                external_id: string | null;
                metadata: components["schemas"]["Metadata"];
                /**
                 * Format: date-time
                 * @description When its claim link ends; null without one.
                 */
                expires_at: string | null;
                /**
                 * Format: date-time
                 * @description Since when the balance does not cover it, or null.
                 */
                unfunded_since: string | null;
                /**
                 * Format: date-time
                 * @description When it was created.
                 */
                created_at: string;
                /** @description The claim link, shown only here; null when there is none, or it is not known any more. */
                claim_url: string | null;
            };
        };
        /**
         * @description The code of a currency (ISO 4217).
         * @enum {string}
         */
        Currency: "USD" | "EUR" | "GBP" | "CHF" | "JPY" | "CAD" | "AUD";
        /** @description An event for an endpoint, and what the endpoint answered. */
        Delivery: {
            /** @description The id of the delivery. */
            id: string;
            /** @description The id of the endpoint. */
            webhook_id: string;
            /** @description What is delivered. */
            event: {
                /** @description The id of the event. */
                id: string;
                /**
                 * @description The event type.
                 * @enum {string}
                 */
                event: "invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "payout.completed" | "payout.failed" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.unresolved_payment" | "invoice.payment_reversed" | "refund.expired" | "refund.unfunded" | "automatic_payout.failed" | "invoice.asset_chosen" | "invoice.partially_paid" | "payout.created" | "webhook.test";
                /** @description Its place in the log of the account. */
                sequence: number;
                /**
                 * Format: date-time
                 * @description When it happened.
                 */
                created_at: string;
            };
            /**
             * @description `delivered`: the endpoint answered 2xx.
             * @enum {string}
             */
            status: "waiting" | "sending" | "delivered" | "exhausted" | "cancelled";
            /**
             * Format: date-time
             * @description When it is tried next, while it waits; else null.
             */
            next_attempt_at: string | null;
            /** @description The latest ten attempts. */
            attempts: {
                /** @description Which attempt. */
                number: number;
                /**
                 * Format: date-time
                 * @description When it began.
                 */
                started_at: string;
                /** @description How long it took, in milliseconds. */
                ms: number;
                /** @description The status of the answer; null without one. */
                status: number | null;
                /**
                 * @description Why there was no answer, or null.
                 * @enum {string|null}
                 */
                failure: "timed_out" | "not_resolved" | "private_address" | "not_secure" | "not_connected" | "broken_off" | "headers_too_large" | "not_signed" | null;
                /** @description The first kilobyte of the answer, or null. */
                answer: string | null;
            }[];
        };
        /** @description A part of the list. */
        DeliveryPage: {
            /** @description The deliveries. */
            data: components["schemas"]["Delivery"][];
            /** @description How to continue. */
            meta: {
                /** @description Whether there are older ones. */
                has_more: boolean;
                /** @description Where the next part begins, or null. */
                next_before: number | null;
            };
        };
        /** @description An error. */
        Error: {
            /** @description What is wrong. */
            message: string;
            /**
             * @description The kind of error, for programs.
             * @enum {string}
             */
            code: "bad_request" | "insufficient_balance" | "not_cancelable" | "nothing_to_refund" | "refund_too_large" | "unauthenticated" | "forbidden" | "missing_scope" | "address_not_allowed" | "beyond_own_token" | "sign_in_failed" | "second_factor_needed" | "step_up_needed" | "missing_role" | "foreign_origin" | "not_found" | "route_not_found" | "method_not_allowed" | "request_timeout" | "other_account" | "request_in_progress" | "already_resolved" | "conflict" | "body_too_large" | "body_compressed" | "expectation_failed" | "invalid_request" | "rate_limited" | "replay_limit" | "too_many_streams" | "headers_too_large" | "internal_error" | "unavailable";
            /** @description What to do, for people. It may change. */
            hint: string;
            /** @description The `X-Request-Id` of this answer: the logs of the operator have it. */
            request_id?: string;
            /** @description Where the code is explained. */
            doc_url?: string;
            /** @description Of a 422: what is wrong, by field. */
            errors?: {
                [key: string]: string[];
            };
            /** @description Of a batch: the line that the balance does not cover. */
            line?: number;
        };
        /** @description Something that happened in the account. */
        Event: components["schemas"]["InvoiceEvent"] | components["schemas"]["PayoutEvent"] | components["schemas"]["UnresolvedPaymentEvent"] | components["schemas"]["RefundEvent"] | components["schemas"]["AutomaticPayoutEvent"] | components["schemas"]["TestEvent"];
        /** @description A part of the log. */
        EventPage: {
            /** @description The events. */
            data: components["schemas"]["Event"][];
            /** @description How to continue. */
            meta: {
                /** @description Whether there are newer ones. */
                has_more: boolean;
                /** @description Where the next part begins. */
                next_after: number;
                /** @description The oldest event that is kept. */
                first_sequence: number;
                /** @description The newest event. */
                last_sequence: number;
            };
        };
        /** @description A request that was answered with an error. */
        FailedRequest: {
            /** @description The `X-Request-Id` of its answer. */
            id: string;
            /**
             * Format: date-time
             * @description When it came.
             */
            created_at: string;
            /** @description Its method. */
            method: string;
            /** @description Its path without the query, at most 300 characters. */
            path: string;
            /** @description The status of its answer. */
            status: number;
            /** @description The code of the error, or null where the answer named none. */
            code: string | null;
            /** @description The API token that it was sent with, or null. */
            token_id: string | null;
            /** @description The person who had signed in, or null. */
            person_id: string | null;
            /** @description The name of the person, or null. */
            person_name: string | null;
            /** @description The address of the client, or null. */
            address: string | null;
        };
        /** @description A page of a list. */
        FailedRequestPage: {
            /** @description The items, newest first. */
            data: components["schemas"]["FailedRequest"][];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description An error that has a message alone. */
        Forbidden: {
            /**
             * @description What is wrong.
             * @constant
             */
            message: "This action is unauthorized.";
        };
        /** @description An asset of which nothing is paid out at the moment. */
        HaltedAsset: {
            asset: components["schemas"]["ReducedAsset"];
            /**
             * Format: date-time
             * @description Since when nothing is paid out.
             */
            halted_at: string;
        };
        /** @description Without its token. */
        Invitation: {
            /** @description The id of the invitation. It is not its token. */
            id: string;
            /** @description The e-mail address. */
            email: string;
            /**
             * @description What the person may do in the account.
             * @enum {string|null}
             */
            role: "owner" | "admin" | "developer" | "accountant" | "viewer" | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires.
             */
            expires_at: string;
        };
        InvitationList: {
            /** @description All of them. */
            data: components["schemas"]["Invitation"][];
        };
        /** @description A request for a payment. */
        Invoice: {
            /** @description The id of the invoice. */
            id: string;
            /** @description Your own reference, or null. */
            external_id: string | null;
            /** @description The price in `currency`. */
            amount_fiat: string;
            /** @description US dollars for one whole asset, locked. Null until the payer has chosen the asset. */
            usd_rate: string | null;
            /**
             * @description Ship when it is `paid`, not before.
             * @enum {string}
             */
            status: "pending" | "confirmed" | "partially_paid" | "paid" | "expired";
            /**
             * Format: date-time
             * @description When it expires; null: never.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was paid, or null.
             */
            paid_at: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description The amount due, in the asset. Null until the payer has chosen the asset. */
            amount: string | null;
            /** @description The asset. Null until the payer has chosen it. */
            asset: components["schemas"]["Asset"] | null;
            /** @description The currency of `amount_fiat`. */
            currency: components["schemas"]["Currency"];
            /** @description The locked rates. Null until the payer has chosen the asset. */
            rate: components["schemas"]["Rates"] | null;
            /** @description Seen and not final, in the asset. */
            pending_amount: string;
            /** @description Final, in the asset. */
            paid_amount: string;
            /** @description Was credited, and the network took it back. */
            reversed_amount: string;
            /** @description What is still to be paid. Null until the payer has chosen the asset. */
            amount_remaining: string | null;
            /** @description What refunds take of `paid_amount`. */
            refunded_amount: string;
            /**
             * Format: date-time
             * @description When you cancelled it, or null.
             */
            cancelled_at: string | null;
            /** @description What the payment page shows, or null. */
            description: string | null;
            metadata: components["schemas"]["Metadata"];
            /** @description The payment link that created the invoice. Absent of other invoices. */
            payment_link_id?: string;
            /** @description The payment page: send your customer there. */
            url: string;
            /** @description What the payer may choose from. Only until the payer has chosen. */
            assets?: components["schemas"]["AssetSymbol"][];
            /** @description Where to pay to. Null until the payer has chosen the asset. */
            address: {
                /** @description The address to pay to. */
                address: string;
                /** @description For wallets: asks for `amount_remaining`. */
                uri: string;
            } | null;
            /** @description Its payments, in the order in which they were seen. */
            payments: components["schemas"]["Payment"][];
            /** @description How many payments there are, when more than are listed. */
            payments_total?: number;
            /** @description Its newest 100 refunds. */
            refunds: components["schemas"]["RefundOfInvoice"][];
        };
        /** @description An event. */
        InvoiceEvent: {
            /** @description The id of the event. */
            id: string;
            /**
             * @description The event type.
             * @enum {string}
             */
            event: "invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.payment_reversed" | "invoice.asset_chosen" | "invoice.partially_paid";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description Counts the events of the account without a gap. */
            sequence: number;
            /** @description Counts the changes of what it is about. */
            version: number;
            /** @description The invoice at that moment. */
            data: components["schemas"]["Invoice"];
        };
        /** @description An invoice in a list. */
        InvoiceListItem: {
            /** @description The id of the invoice. */
            id: string;
            /** @description Your own reference, or null. */
            external_id: string | null;
            /** @description The price in `currency`. */
            amount_fiat: string;
            /** @description US dollars for one whole asset, locked. Null until the payer has chosen the asset. */
            usd_rate: string | null;
            /**
             * @description Ship when it is `paid`, not before.
             * @enum {string}
             */
            status: "pending" | "confirmed" | "partially_paid" | "paid" | "expired";
            /**
             * Format: date-time
             * @description When it expires; null: never.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was paid, or null.
             */
            paid_at: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description The amount due, in the asset. Null until the payer has chosen the asset. */
            amount: string | null;
            /** @description The asset. Null until the payer has chosen it. */
            asset: components["schemas"]["Asset"] | null;
            /** @description Only of an invoice in another currency than US dollars. */
            currency?: components["schemas"]["Currency"];
            /** @description The payment link that created the invoice. Absent of other invoices. */
            payment_link_id?: string;
        };
        /** @description A page of a list. */
        InvoicePage: {
            /** @description The items, newest first. */
            data: (components["schemas"]["InvoiceListItem"] | components["schemas"]["Invoice"])[];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description What new invoices have where a request says nothing, and what the pages of customers show. */
        InvoiceSettings: {
            /** @description The currency of new invoices. */
            currency: components["schemas"]["Currency"];
            /** @description Minutes to pay; null: new invoices never expire. */
            expires_in: number | null;
            /** @description Per cent: an invoice is paid when at most so much is missing. */
            tolerance: string;
            /** @description The name that the pages of customers show. */
            shop_name: string | null;
            /** @description The picture that they show: a data URI of a PNG, JPEG or WebP. */
            shop_logo: string | null;
            /**
             * @description The language of these pages; null: as each customer's browser asks.
             * @enum {string|null}
             */
            language: "en" | "de" | "es" | "fr" | "it" | "pt" | "ru" | "zh" | "ja" | "ar" | null;
            /** @description The hosts that new invoices and payment links may send customers to; empty: any. */
            redirect_hosts: string[];
            /** @description The origins that may show these pages in a frame; empty: none. */
            frame_ancestors: string[];
        };
        /** @description An invoice, and funds that are in no balance. */
        InvoiceWithUnresolvedPayment: {
            /** @description The id of the invoice. */
            id: string;
            /** @description Your own reference, or null. */
            external_id: string | null;
            /** @description The price in `currency`. */
            amount_fiat: string;
            /** @description US dollars for one whole asset, locked. Null until the payer has chosen the asset. */
            usd_rate: string | null;
            /**
             * @description Ship when it is `paid`, not before.
             * @enum {string}
             */
            status: "pending" | "confirmed" | "partially_paid" | "paid" | "expired";
            /**
             * Format: date-time
             * @description When it expires; null: never.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was paid, or null.
             */
            paid_at: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description The amount due, in the asset. Null until the payer has chosen the asset. */
            amount: string | null;
            /** @description The asset. Null until the payer has chosen it. */
            asset: components["schemas"]["Asset"] | null;
            /** @description The currency of `amount_fiat`. */
            currency: components["schemas"]["Currency"];
            /** @description The locked rates. Null until the payer has chosen the asset. */
            rate: components["schemas"]["Rates"] | null;
            /** @description Seen and not final, in the asset. */
            pending_amount: string;
            /** @description Final, in the asset. */
            paid_amount: string;
            /** @description Was credited, and the network took it back. */
            reversed_amount: string;
            /** @description What is still to be paid. Null until the payer has chosen the asset. */
            amount_remaining: string | null;
            /** @description What refunds take of `paid_amount`. */
            refunded_amount: string;
            /**
             * Format: date-time
             * @description When you cancelled it, or null.
             */
            cancelled_at: string | null;
            /** @description What the payment page shows, or null. */
            description: string | null;
            metadata: components["schemas"]["Metadata"];
            /** @description The payment link that created the invoice. Absent of other invoices. */
            payment_link_id?: string;
            /** @description The payment page: send your customer there. */
            url: string;
            /** @description What the payer may choose from. Only until the payer has chosen. */
            assets?: components["schemas"]["AssetSymbol"][];
            /** @description Where to pay to. Null until the payer has chosen the asset. */
            address: {
                /** @description The address to pay to. */
                address: string;
                /** @description For wallets: asks for `amount_remaining`. */
                uri: string;
            } | null;
            /** @description Its payments, in the order in which they were seen. */
            payments: components["schemas"]["Payment"][];
            /** @description How many payments there are, when more than are listed. */
            payments_total?: number;
            /** @description Its newest 100 refunds. */
            refunds: components["schemas"]["RefundOfInvoice"][];
            /** @description The funds in no balance. */
            unresolved: {
                /** @description The id of the unresolved funds. */
                id: string;
                /**
                 * @description Why they are in no balance.
                 * @enum {string}
                 */
                reason?: "late" | "underpaid" | "wrong_asset" | "too_small";
                /** @description How much was received, in its asset. */
                amount: string;
                asset: components["schemas"]["ReducedAsset"];
                /** @description The hash of the transaction, or null. */
                tx_hash: string | null;
            };
        };
        /** @description An address that is told by e-mail what happens. */
        MailRecipient: {
            /** @description The id of the recipient. */
            id: string;
            /** @description The e-mail address. */
            address: string;
            /** @description What it is told of. */
            kinds: ("paid" | "paid_late" | "paid_short" | "payout_failed" | "webhook_failing")[];
            /**
             * @description It is told of events while it is `active`.
             * @enum {string}
             */
            status: "unconfirmed" | "active" | "unsubscribed" | "paused";
            /** @description Why nothing is sent to it, or null. */
            paused_reason: string | null;
            /**
             * Format: date-time
             * @description Until when the code counts that was sent last, or null.
             */
            code_expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was confirmed last, or null.
             */
            confirmed_at: string | null;
            /**
             * Format: date-time
             * @description When the mail server took an e-mail to it last, or null.
             */
            last_sent_at: string | null;
            /** @description Why an e-mail to it was not sent, or null. */
            last_failure: string | null;
            /**
             * Format: date-time
             * @description When that was, or null.
             */
            last_failed_at: string | null;
            /**
             * Format: date-time
             * @description When it was added.
             */
            created_at: string;
        };
        /** @description The recipients of an account. */
        MailRecipientList: {
            /** @description The recipients, the oldest first. */
            data: components["schemas"]["MailRecipient"][];
            /** @description About the installation. */
            meta: {
                /** @description Whether this installation sends e-mail. */
                sends_mail: boolean;
                /** @description Of a sandbox: e-mails are written to files, and sent to nobody. */
                writes_files: boolean;
                /** @description The address that e-mails come from, or null. */
                sender: string | null;
            };
        };
        /** @description Your own keys and texts, as you gave them: an empty object when you gave none. */
        Metadata: {
            [key: string]: string;
        };
        /** @description An invitation with its token. */
        NewInvitation: {
            /** @description The id of the invitation. It is not its token. */
            id: string;
            /** @description The e-mail address. */
            email: string;
            /**
             * @description What the person may do in the account.
             * @enum {string|null}
             */
            role: "owner" | "admin" | "developer" | "accountant" | "viewer" | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires.
             */
            expires_at: string;
            /** @description What accepts it, once. Shown only here. */
            token: string;
        };
        /** @description All recovery codes of the person. */
        NewRecoveryCodes: {
            /** @description Each signs in once in place of a code. Shown only here. */
            recovery_codes: string[];
        };
        /** @description A new API token with itself. */
        NewToken: {
            /** @description The id of the token. It is not the token itself. */
            id: string;
            /** @description What it is for. */
            name: string;
            /** @description Its last four characters. */
            hint: string;
            /**
             * @description Whether it is valid.
             * @enum {string}
             */
            state: "active" | "expired" | "revoked";
            /** @description Whether this request was sent with it. */
            current: boolean;
            /** @description What it may do; null: everything. */
            scopes: components["schemas"]["Scope"][] | null;
            /** @description The networks from which it may be used; null: from everywhere. */
            allowed_ips: string[] | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires; null: it is valid until it is revoked.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked, or null.
             */
            revoked_at: string | null;
            /** @description The token that took its place, or null. */
            replaced_by: string | null;
            /**
             * Format: date-time
             * @description When it was last used, to the minute; null: never.
             */
            last_used_at: string | null;
            /** @description From which address, or null. */
            last_used_ip: string | null;
            /** @description The token itself: what is sent as `Authorization: Bearer`. Shown only here. */
            token: string;
        };
        /** @description What sets up an app. */
        NewTotpSecret: {
            /** @description What is typed into an app, in base 32. Shown only here. */
            secret: string;
            /** @description The same as an app reads it from a QR code. */
            uri: string;
        };
        /** @description The URLs of other pages of the list. */
        PageLinks: {
            /** @description The first page. */
            first: string;
            /** @description The last page. */
            last: string;
            /** @description The page before; null of the first. */
            prev: string | null;
            /** @description The page after: follow it until it is null. */
            next: string | null;
        };
        /** @description Where the page lies in the list. */
        PageMeta: {
            /** @description The number of this page. */
            current_page: number;
            /** @description The place of its first item, counted from 1; null without items. */
            from: number | null;
            /** @description The number of the last page. */
            last_page: number;
            /** @description The links of a page navigation. */
            links: {
                /** @description The page; null where there is none. */
                url: string | null;
                /** @description What to show. */
                label: string;
                /** @description Whether it is this page. */
                active: boolean;
            }[];
            /** @description The URL of the list without its query. */
            path: string;
            /** @description How many items a page has. */
            per_page: number;
            /** @description The place of its last item; null without items. */
            to: number | null;
            /** @description How many items there are, exact up to 10,000. */
            total: number;
        };
        /** @description A passkey of the person. */
        Passkey: {
            /** @description The id of the passkey. */
            id: string;
            /** @description The name that the person has given it. */
            name: string;
            /**
             * Format: date-time
             * @description When it was registered.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last signed in or stepped up, or null.
             */
            last_used_at: string | null;
        };
        /** @description For `PublicKeyCredential.parseCreationOptionsFromJSON()` of the browser. */
        PasskeyCreationOptions: {
            /** @description What is signed, once, within five minutes. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        PasskeyList: {
            /** @description All of them. */
            data: components["schemas"]["Passkey"][];
        };
        /** @description For `PublicKeyCredential.parseRequestOptionsFromJSON()` of the browser. */
        PasskeyRequestOptions: {
            /** @description What is signed, once, within five minutes. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        /** @description A transaction that pays an invoice. */
        Payment: {
            /** @description The hash of its transaction; null where it has none. */
            tx_hash: string | null;
            /** @description Which output of the transaction pays, on Bitcoin; else null. */
            output_index: number | null;
            /** @description What was paid, in the asset of the payment. */
            amount: string;
            /** @description Only of a payment in another asset than that of the invoice. */
            asset?: components["schemas"]["AssetSymbol"];
            /**
             * @description `confirmed`: it is final.
             * @enum {string}
             */
            status: "pending" | "confirmed" | "reversed";
            /** @description How many blocks confirm it. */
            confirmations: number;
            /** @description How many it needs. */
            required_confirmations: number;
            /** @description The block that contains it, or null. */
            block_height: number | null;
            /**
             * Format: date-time
             * @description When it was seen first.
             */
            first_seen_at: string;
            /**
             * Format: date-time
             * @description When it became final, or null.
             */
            confirmed_at: string | null;
            /** @description Its page in a block explorer, or null. */
            explorer_url: string | null;
        };
        /** @description A page that can be paid any number of times. */
        PaymentLink: {
            /** @description The id of the payment link. */
            id: string;
            /** @description The page to share. */
            url: string;
            /**
             * @description Only an `active` one takes payments.
             * @enum {string}
             */
            status: "active" | "expired" | "deactivated";
            /** @description What is paid. The page shows it. */
            description: string;
            metadata: components["schemas"]["Metadata"];
            /** @description The price in `currency`; null: the payer types it. */
            amount_fiat: string | null;
            /** @description The least that the payer may type, or null. */
            amount_min: string | null;
            /** @description The most that the payer may type, or null. */
            amount_max: string | null;
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description The asset, or null when the payer chooses it. */
            asset: components["schemas"]["AssetSymbol"] | null;
            /** @description What the payer may choose from, or null when there is one `asset`. */
            assets: (components["schemas"]["AssetSymbol"][] | "all") | null;
            /** @description Minutes to pay, of each invoice; null: the setting. */
            expires_in: number | null;
            /** @description Where the payment page leads when the invoice is paid, or null. */
            succeed_url: string | null;
            /** @description Where the payment page leads when it has expired, or null. */
            timeout_url: string | null;
            /**
             * Format: date-time
             * @description When the link ends; null: never.
             */
            valid_until: string | null;
            /** @description How many of its invoices may be open at a time. */
            max_open: number;
            /** @description How many of its invoices are neither paid nor expired. */
            open_invoices: number;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When you ended it, or null.
             */
            deactivated_at: string | null;
        };
        /** @description A page of a list. */
        PaymentLinkPage: {
            /** @description The items, newest first. */
            data: components["schemas"]["PaymentLink"][];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description Money that is sent from the balance to an address. */
        Payout: {
            /** @description The id of the payout. */
            id: number;
            /**
             * @description Always `payout`.
             * @constant
             */
            type: "payout";
            /** @description What the recipient gets, in the asset. */
            amount: string;
            /** @description The hash of its transaction, or null. */
            tx_hash: string | null;
            /** @description The recipient. */
            to_address: string;
            /**
             * @description `mined`: the recipient has it. `failed`: it will not be carried out.
             * @enum {string}
             */
            status: "pending" | "mined" | "failed";
            /** @description Why it failed; empty when it has not. */
            failed_reason: string;
            /** @description How it is approved, or null when it needs no approval. */
            approval: {
                /**
                 * @description `waiting`: nothing is paid until enough others have approved it.
                 * @enum {string}
                 */
                status: "waiting" | "approved" | "rejected" | "cancelled" | "expired";
                /** @description How many other tokens or people must approve it. */
                needed: number;
                /** @description Who has approved or rejected it, in that order. */
                given: {
                    /** @description The API token that said so; null of a person. */
                    token_id: string | null;
                    /** @description The person who said so; null of an API token. */
                    person_id: string | null;
                    /**
                     * @description What it said.
                     * @enum {string}
                     */
                    decision: "approved" | "rejected";
                    /**
                     * Format: date-time
                     * @description When it said so.
                     */
                    at: string;
                }[];
                /** @description The API token or the person that has requested it, and cannot approve it. Null: not known. */
                requested_by: string | null;
                /**
                 * Format: date-time
                 * @description When it fails unless it is approved before.
                 */
                expires_at: string;
            } | null;
            /**
             * Format: date-time
             * @description When you asked that it is cancelled, or null.
             */
            cancel_requested_at: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was mined, or null.
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description When it failed, or null.
             */
            failed_at: string | null;
            asset: components["schemas"]["ReducedAsset"];
            /** @description What it costs beside its amount, in the asset. */
            network_fee: string;
            /** @description Amount and network fee: what was held. */
            total: string;
            /** @description US dollars for one whole asset then, or null. */
            usd_rate: string | null;
            /** @description `amount` in US dollars at that rate, or null. */
            usd_value: string | null;
            /** @description Your own reference, or null. */
            external_id: string | null;
            metadata: components["schemas"]["Metadata"];
            /** @description The unresolved funds that it pays back, or null. */
            deposit_id: string | null;
            /** @description The batch that it was requested in, or null. */
            batch_id: string | null;
            /** @description Whether an automatic payout created it. */
            automatic: boolean;
            /** @description The refund that it pays, or null. */
            refund_id: string | null;
            /** @description The invoice that it refunds, or null. */
            invoice_id: string | null;
        };
        /** @description An entry of the address book. */
        PayoutAddress: {
            /** @description The id of the entry. */
            id: string;
            /**
             * @description Always `address`.
             * @constant
             */
            type: "address";
            /**
             * @description The network: all of its assets can be paid there.
             * @enum {string}
             */
            chain: "bitcoin" | "ethereum" | "solana" | "base" | "polygon";
            /** @description The recipient. */
            address: string;
            /** @description Whose it is. */
            label: string;
            /**
             * Format: date-time
             * @description When it was added.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description From then on an allow-list lets payouts to it through.
             */
            usable_at: string;
        };
        /** @description A page of a list. */
        PayoutAddressPage: {
            /** @description The items, newest first. */
            data: components["schemas"]["PayoutAddress"][];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description A transaction that was signed for a payout. On Bitcoin it may pay several payouts: its fee is that of all of them. */
        PayoutAttempt: {
            /** @description 1 is the first. */
            attempt: number;
            /**
             * @description `signed`: no node has accepted it yet. `sent`: it waits for a block, or for confirmations. `replaced`: another attempt has taken its place. `mined`: it has paid. `failed`: a block includes it, and its recipient has refused it. `dropped`: no block can ever include it.
             * @enum {string}
             */
            status: "signed" | "sent" | "replaced" | "mined" | "failed" | "dropped";
            /** @description The hash of the transaction. */
            tx_hash: string;
            /** @description Its page in a block explorer, or null. */
            explorer_url: string | null;
            /** @description The asset in which the network takes its fee. */
            fee_asset: components["schemas"]["AssetSymbol"];
            /** @description What the transaction may cost at most. */
            fee_max: string;
            /** @description What the transaction has cost; null before it is mined. */
            fee_paid: string | null;
            /** @description What it offers the network; null where that is not known, as on Solana. */
            fee_rate: {
                /** @description The rate. */
                value: string;
                /**
                 * @description Of Bitcoin for a virtual byte, of EVM chains at most for a unit of gas.
                 * @enum {string}
                 */
                unit: "sat/vB" | "gwei";
            } | null;
            /** @description The block that includes it, or null. */
            block_height: number | null;
            /**
             * Format: date-time
             * @description When it was signed.
             */
            signed_at: string;
            /**
             * Format: date-time
             * @description When it was first sent to a node, or null.
             */
            sent_at: string | null;
        };
        /** @description Payouts that were requested together. */
        PayoutBatch: {
            /** @description The id of the batch. */
            id: string;
            /**
             * @description Always `payout_batch`.
             * @constant
             */
            type: "payout_batch";
            /**
             * @description `each`: each line is paid or not by itself. `all_or_nothing`: all or none.
             * @enum {string}
             */
            mode: "each" | "all_or_nothing";
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description How many lines have which status. */
            totals: {
                /** @description All of its lines. */
                lines: number;
                /** @description Lines whose payout exists. */
                created: number;
                /** @description Lines that the balance did not cover. */
                refused: number;
                /** @description Lines that are wrong. */
                invalid: number;
                /** @description Lines for which nothing was done. */
                unavailable: number;
                /** @description Lines that are still being carried out. */
                undecided: number;
            };
            /** @description Its lines, in their order. */
            lines: components["schemas"]["PayoutBatchLine"][];
        };
        /** @description What became of a payout of a batch. */
        PayoutBatchLine: {
            /** @description Which payout of the list, or which line of the file. */
            line: number;
            /**
             * @description `created`: the payout exists.
             * @enum {string}
             */
            status: "created" | "refused" | "invalid" | "unavailable" | "undecided";
            /** @description The payout, when it was created. */
            payout_id?: number;
            /** @description What is wrong with it, by field, as in a 422. */
            errors?: {
                [key: string]: string[];
            };
            /** @description Why there is no payout. */
            message?: string;
            /**
             * @description The kind of error.
             * @enum {string}
             */
            code?: "bad_request" | "insufficient_balance" | "not_cancelable" | "nothing_to_refund" | "refund_too_large" | "unauthenticated" | "forbidden" | "missing_scope" | "address_not_allowed" | "beyond_own_token" | "sign_in_failed" | "second_factor_needed" | "step_up_needed" | "missing_role" | "foreign_origin" | "not_found" | "route_not_found" | "method_not_allowed" | "request_timeout" | "other_account" | "request_in_progress" | "already_resolved" | "conflict" | "body_too_large" | "body_compressed" | "expectation_failed" | "invalid_request" | "rate_limited" | "replay_limit" | "too_many_streams" | "headers_too_large" | "internal_error" | "unavailable";
            /** @description What to do about it. */
            hint?: string;
        };
        /** @description A batch in a list. */
        PayoutBatchListItem: {
            /** @description The id of the batch. */
            id: string;
            /**
             * @description Always `payout_batch`.
             * @constant
             */
            type: "payout_batch";
            /**
             * @description `each`: each line is paid or not by itself. `all_or_nothing`: all or none.
             * @enum {string}
             */
            mode: "each" | "all_or_nothing";
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description How many lines have which status. */
            totals: {
                /** @description All of its lines. */
                lines: number;
                /** @description Lines whose payout exists. */
                created: number;
                /** @description Lines that the balance did not cover. */
                refused: number;
                /** @description Lines that are wrong. */
                invalid: number;
                /** @description Lines for which nothing was done. */
                unavailable: number;
                /** @description Lines that are still being carried out. */
                undecided: number;
            };
        };
        /** @description A page of a list. */
        PayoutBatchPage: {
            /** @description The items, newest first. */
            data: components["schemas"]["PayoutBatchListItem"][];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description An event. */
        PayoutEvent: {
            /** @description The id of the event. */
            id: string;
            /**
             * @description The event type.
             * @enum {string}
             */
            event: "payout.completed" | "payout.failed" | "payout.created";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description Counts the events of the account without a gap. */
            sequence: number;
            /** @description Counts the changes of what it is about. */
            version: number;
            /** @description The payout at that moment. */
            data: components["schemas"]["Payout"];
        };
        /** @description What is allowed of payouts in one asset. */
        PayoutLimits: {
            /** @description The asset. */
            asset: components["schemas"]["AssetSymbol"];
            /** @description The most that one payout may be, without its network fee; null without a limit. */
            per_payout: string | null;
            /** @description The most that the payouts of any 24 hours may be together, without those that failed; null without a limit. */
            per_24h: string | null;
            /** @description A payout of more waits for approvals; null when none does. */
            approval_above: string | null;
            /** @description How many other tokens must approve it, or null. */
            approvals: number | null;
        };
        /** @description A page of a list. */
        PayoutPage: {
            /** @description The items, newest first. */
            data: components["schemas"]["Payout"][];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description What your account allows of its payouts. */
        PayoutPolicy: {
            /**
             * @description Always `payout_policy`.
             * @constant
             */
            type: "payout_policy";
            /** @description Whether payouts go to the address book alone. Refunds and returned funds go anywhere. */
            allow_list: boolean;
            /** @description How long a new address and a change that allows more wait. */
            delay_hours: number;
            /** @description One for each asset at most. Other assets have no limit. */
            limits: components["schemas"]["PayoutLimits"][];
            /** @description What takes its place later because it allows more, or null. */
            next: {
                /** @description Whether payouts go to the address book alone. Refunds and returned funds go anywhere. */
                allow_list: boolean;
                /** @description How long a new address and a change that allows more wait. */
                delay_hours: number;
                /** @description One for each asset at most. Other assets have no limit. */
                limits: components["schemas"]["PayoutLimits"][];
                /**
                 * Format: date-time
                 * @description When it takes the place of this one.
                 */
                takes_effect_at: string;
            } | null;
            /**
             * Format: date-time
             * @description When it was last changed; null when there never was one.
             */
            updated_at: string | null;
        };
        /** @description What a payout would cost now. */
        PayoutQuote: {
            /** @description What the recipient would get, in the asset. */
            amount: string;
            /** @description What it would cost beside its amount, in the asset. */
            network_fee: string;
            /** @description Amount and network fee. */
            total: string;
            /** @description US dollars for one whole asset then, or null. */
            usd_rate: string | null;
            /** @description `amount` in US dollars at that rate, or null. */
            usd_value: string | null;
            /** @description What your open claim links of invoices promise in this asset. */
            promised_amount: string;
            /** @description The recipient, or null when you gave none. */
            to_address: string | null;
            asset: components["schemas"]["ReducedAsset"];
            /** @description How long it holds. */
            valid: {
                /**
                 * Format: date-time
                 * @description When fee and rate were determined.
                 */
                as_of: string;
                /**
                 * @description The fee of a payout is that of its creation.
                 * @constant
                 */
                guaranteed: false;
            };
        };
        /** @description Somebody of the account. */
        Person: {
            /** @description The id of the person. */
            id: string;
            /** @description The e-mail address. */
            email: string;
            /** @description The name of the person. */
            name: string;
            /**
             * @description What the person may do in the account.
             * @enum {string}
             */
            role: "owner" | "admin" | "developer" | "accountant" | "viewer";
            /**
             * Format: date-time
             * @description When the person accepted the invitation.
             */
            joined_at: string;
            /**
             * Format: date-time
             * @description When the person last signed in for this account, or null.
             */
            last_sign_in_at: string | null;
        };
        PersonList: {
            /** @description All of them. */
            data: components["schemas"]["Person"][];
        };
        /** @description An error as RFC 9457 has it, for clients that accept `application/problem+json`. */
        Problem: {
            /** @description Where the code is explained. */
            type: string;
            /** @description What is wrong. */
            title: string;
            /** @description The status of the answer. */
            status: number;
            /** @description What to do, for people. */
            detail: string;
            /** @description What is wrong. */
            message: string;
            /**
             * @description The kind of error, for programs.
             * @enum {string}
             */
            code: "bad_request" | "insufficient_balance" | "not_cancelable" | "nothing_to_refund" | "refund_too_large" | "unauthenticated" | "forbidden" | "missing_scope" | "address_not_allowed" | "beyond_own_token" | "sign_in_failed" | "second_factor_needed" | "step_up_needed" | "missing_role" | "foreign_origin" | "not_found" | "route_not_found" | "method_not_allowed" | "request_timeout" | "other_account" | "request_in_progress" | "already_resolved" | "conflict" | "body_too_large" | "body_compressed" | "expectation_failed" | "invalid_request" | "rate_limited" | "replay_limit" | "too_many_streams" | "headers_too_large" | "internal_error" | "unavailable";
            /** @description What to do, for people. It may change. */
            hint: string;
            /** @description The `X-Request-Id` of this answer: the logs of the operator have it. */
            request_id?: string;
            /** @description Where the code is explained. */
            doc_url?: string;
            /** @description Of a 422: what is wrong, by field. */
            errors?: {
                [key: string]: string[];
            };
            /** @description Of a batch: the line that the balance does not cover. */
            line?: number;
        };
        /** @description A test event and its delivery. */
        QueuedTest: {
            /** @description The id of the delivery. */
            delivery_id: string;
            event: components["schemas"]["Event"];
        };
        /** @description Rates in US dollars, and where they came from. */
        Rates: {
            /** @description The rate of the currency. */
            currency: {
                code: components["schemas"]["Currency"];
                /** @description US dollars for one unit. */
                usd_rate: string;
                /** @description What each source told. Of the dollar itself there is none. */
                sources: {
                    /** @description The name of the source. */
                    name: string;
                    /** @description The rate that it told. */
                    usd_rate: string;
                    /**
                     * Format: date-time
                     * @description When it was read.
                     */
                    read_at: string;
                }[];
                /**
                 * Format: date-time
                 * @description When the oldest source was read; null of the dollar itself.
                 */
                as_of: string | null;
            };
            /** @description The rate of the asset. */
            asset: {
                symbol: components["schemas"]["AssetSymbol"];
                /** @description US dollars for one unit. */
                usd_rate: string;
                /** @description What each source told. Of the dollar itself there is none. */
                sources: {
                    /** @description The name of the source. */
                    name: string;
                    /** @description The rate that it told. */
                    usd_rate: string;
                    /**
                     * Format: date-time
                     * @description When it was read.
                     */
                    read_at: string;
                }[];
                /**
                 * Format: date-time
                 * @description When the oldest source was read.
                 */
                as_of: string;
            };
        };
        /** @description An asset, without what changes. */
        ReducedAsset: {
            /** @description The number of the asset. */
            id: number;
            symbol: components["schemas"]["AssetSymbol"];
            /** @description The name of the asset. */
            name: string;
            /** @description How many decimals an amount of the asset may have. */
            decimals: number;
        };
        /** @description What is paid back for an invoice, or of unresolved funds. */
        Refund: {
            /** @description The id of the refund. */
            id: string;
            /**
             * @description `claimable`: the claim link waits for an address.
             * @enum {string}
             */
            status: "claimable" | "pending" | "completed" | "failed" | "expired" | "cancelled";
            /** @description The invoice that it refunds, or null. */
            invoice_id: string | null;
            /** @description The unresolved funds that it pays back, or null. */
            deposit_id: string | null;
            /** @description The amount as you gave it; `deposit`: all that was left of the funds. */
            requested: string;
            /** @description The currency of the invoice, or null. */
            currency: components["schemas"]["Currency"] | null;
            /** @description What it is worth in that currency, or null. */
            amount_fiat: string | null;
            /**
             * @description At which rate: the locked one of the invoice, or that of its creation.
             * @enum {string}
             */
            rate: "then" | "now";
            /** @description At the rate `now`: the rates. Null at the rate `then`. */
            rates_now: components["schemas"]["Rates"] | null;
            /** @description What it pays, in the asset. */
            amount: string;
            /** @description What it takes of what was paid for the invoice, in the asset. */
            share: string;
            asset: components["schemas"]["ReducedAsset"];
            /** @description The payout that pays it, or null. */
            payout_id: number | null;
            /** @description Your own reference, or null. */
            external_id: string | null;
            metadata: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When its claim link ends; null without one.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description Since when the balance does not cover it, or null.
             */
            unfunded_since: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
        };
        /** @description An event. */
        RefundEvent: {
            /** @description The id of the event. */
            id: string;
            /**
             * @description The event type.
             * @enum {string}
             */
            event: "refund.expired" | "refund.unfunded";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description Counts the events of the account without a gap. */
            sequence: number;
            /** @description Counts the changes of what it is about. */
            version: number;
            /** @description The refund at that moment. */
            data: components["schemas"]["Refund"];
        };
        /** @description A refund in its invoice. */
        RefundOfInvoice: {
            /** @description The id of the refund. */
            id: string;
            /** @description What it pays, in the asset. */
            amount: string;
            /**
             * @description The status of the refund.
             * @enum {string}
             */
            status: "claimable" | "pending" | "completed" | "failed" | "expired" | "cancelled";
            /** @description The payout that pays it, or null. */
            payout_id: number | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
        };
        /** @description A page of a list. */
        RefundPage: {
            /** @description The items, newest first. */
            data: components["schemas"]["Refund"][];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description What a replay has queued. */
        Replay: {
            /** @description Deliveries that were queued now. */
            queued: number;
            /** @description Deliveries that waited already. */
            already_waiting: number;
            /** @description Events that were delivered before. */
            already_delivered: number;
        };
        /** @description The API token that took the place of another. */
        RotatedToken: {
            /** @description The id of the token. It is not the token itself. */
            id: string;
            /** @description What it is for. */
            name: string;
            /** @description Its last four characters. */
            hint: string;
            /**
             * @description Whether it is valid.
             * @enum {string}
             */
            state: "active" | "expired" | "revoked";
            /** @description Whether this request was sent with it. */
            current: boolean;
            /** @description What it may do; null: everything. */
            scopes: components["schemas"]["Scope"][] | null;
            /** @description The networks from which it may be used; null: from everywhere. */
            allowed_ips: string[] | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires; null: it is valid until it is revoked.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked, or null.
             */
            revoked_at: string | null;
            /** @description The token that took its place, or null. */
            replaced_by: string | null;
            /**
             * Format: date-time
             * @description When it was last used, to the minute; null: never.
             */
            last_used_at: string | null;
            /** @description From which address, or null. */
            last_used_ip: string | null;
            /** @description The token itself: what is sent as `Authorization: Bearer`. Shown only here. */
            token: string;
            /**
             * Format: date-time
             * @description When the former token expires.
             */
            former_token_expires_at: string;
        };
        /** @description An endpoint with its new secret. */
        RotatedWebhook: {
            /** @description The id of the endpoint. */
            id: string;
            /** @description Where events are sent to. */
            url: string;
            /** @description The event types that it receives. */
            events: ("invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "payout.completed" | "payout.failed" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.unresolved_payment" | "invoice.payment_reversed" | "refund.expired" | "refund.unfunded" | "automatic_payout.failed" | "invoice.asset_chosen" | "invoice.partially_paid" | "payout.created" | "webhook.test")[];
            /** @description Your own text, or null. */
            description: string | null;
            /** @description Whether events are sent to it. */
            enabled: boolean;
            /** @description Why it is disabled, or null. */
            disabled_reason: string | null;
            /**
             * Format: date-time
             * @description When it was last disabled, or null.
             */
            disabled_at: string | null;
            /**
             * Format: date-time
             * @description From when to replay, or null.
             */
            missed_since: string | null;
            /**
             * Format: date-time
             * @description No delivery has arrived since then; null while deliveries succeed.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description The end of the pause that it asked for, or null.
             */
            paused_until: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description What its deliveries are signed with. Shown only here. */
            secret: string;
            /**
             * Format: date-time
             * @description When the former secrets end at the latest.
             */
            former_secrets_end_at: string;
        };
        /**
         * @description What a token may do. To write includes to read.
         * @enum {string}
         */
        Scope: "invoices:read" | "invoices:write" | "refunds:read" | "refunds:write" | "payouts:read" | "payouts:write" | "payouts:approve" | "policy:read" | "policy:write" | "balances:read" | "unresolved:read" | "unresolved:write" | "webhooks:read" | "webhooks:write" | "events:read" | "mail:read" | "mail:write" | "settings:read" | "settings:write" | "tokens:read" | "tokens:write" | "requests:read" | "audit:read";
        /** @description A session of the person, in any account. */
        Session: {
            /** @description The id of the session. It is not what the cookie has. */
            id: string;
            /** @description Whether this request was sent with it. */
            current: boolean;
            /** @description The id of the account. */
            account_id: string;
            /**
             * Format: date-time
             * @description When the person signed in.
             */
            signed_in_at: string;
            /**
             * Format: date-time
             * @description When it was last used, to the minute.
             */
            last_used_at: string;
            /**
             * Format: date-time
             * @description When it ends, if nothing is done with it.
             */
            expires_at: string;
            /** @description The address from which the person signed in, or null. */
            address: string | null;
            /** @description The program that the person uses, as it calls itself, or null. */
            user_agent: string | null;
        };
        SessionList: {
            /** @description All of them. */
            data: components["schemas"]["Session"][];
        };
        /** @description Who has signed in, for which account. */
        SignedIn: {
            /** @description The id of the person. */
            id: string;
            /** @description The e-mail address. */
            email: string;
            /** @description The name of the person. */
            name: string;
            /** @description The id of the session. It is not what the cookie has. */
            session_id: string;
            /** @description The account for which the session acts. */
            account_id: string;
            /**
             * @description What the person may do in the account.
             * @enum {string}
             */
            role: "owner" | "admin" | "developer" | "accountant" | "viewer";
            /** @description What the role allows, as scopes of API tokens; null: everything. */
            scopes: ("invoices:read" | "invoices:write" | "refunds:read" | "refunds:write" | "payouts:read" | "payouts:write" | "payouts:approve" | "policy:read" | "policy:write" | "balances:read" | "unresolved:read" | "unresolved:write" | "webhooks:read" | "webhooks:write" | "events:read" | "mail:read" | "mail:write" | "settings:read" | "settings:write" | "tokens:read" | "tokens:write" | "requests:read" | "audit:read")[] | null;
            /** @description All accounts of the person. Sign in again to act for another one. */
            accounts: {
                /** @description The id of the account. */
                id: string;
                /** @description Its name. */
                name: string;
                /**
                 * @description What the person may do in the account.
                 * @enum {string}
                 */
                role: "owner" | "admin" | "developer" | "accountant" | "viewer";
            }[];
            /** @description What is asked for beside the password. */
            second_factor: {
                /** @description Whether the person signs in with codes of an app. */
                totp: boolean;
                /** @description How many recovery codes are left. */
                recovery_codes: number;
            };
            /** @description How many passkeys the person has: each signs in without the password. */
            passkeys: number;
            /** @description Whether the person operates this installation, for the pages of the dashboard for operators. */
            operator: boolean;
            /** @description Whether this installation is a sandbox: its money is worth nothing. */
            sandbox: boolean;
            /**
             * Format: date-time
             * @description Until when operations are allowed that need the password again.
             */
            stepped_up_until: string;
            /**
             * Format: date-time
             * @description When the session ends, if nothing is done with it.
             */
            expires_at: string;
        };
        /** @description The month of an asset. */
        Statement: {
            /** @description The month. */
            month: string;
            asset: components["schemas"]["ReducedAsset"];
            /** @description What values are in. */
            currency: components["schemas"]["Currency"];
            /**
             * Format: date-time
             * @description The first moment of the month (UTC).
             */
            from: string;
            /**
             * Format: date-time
             * @description The first moment after it.
             */
            to: string;
            /** @description Whether it changes no more. */
            complete: boolean;
            /** @description What could be spent at its beginning. */
            opening_balance: string;
            /** @description The sums of each type that occurred. */
            entries: {
                /**
                 * @description The type of the balance transactions.
                 * @enum {string}
                 */
                type: "payment" | "payment_reversal" | "payment_recovery" | "unresolved_accepted" | "payout" | "payout_failed" | "payout_voided" | "refund" | "refund_failed" | "refund_voided";
                /** @description How many balance transactions. */
                count: number;
                /** @description The sum of their amounts. */
                amount: string;
                /** @description The sum of their fees. */
                fee: string;
                /** @description What they changed the balance by. */
                net: string;
                /** @description The sum of their values, in the currency. */
                value: string;
                /** @description How many of them have no value. */
                without_value: number;
            }[];
            /** @description The sums of all entries. */
            total: {
                /** @description How many balance transactions. */
                count: number;
                /** @description The sum of their amounts. */
                amount: string;
                /** @description The sum of their fees. */
                fee: string;
                /** @description What they changed the balance by. */
                net: string;
                /** @description The sum of their values, in the currency. */
                value: string;
                /** @description How many of them have no value. */
                without_value: number;
            };
            /** @description What could be spent at its end, or until now. */
            closing_balance: string;
            /**
             * Format: date-time
             * @description When it was computed.
             */
            generated_at: string;
        };
        /** @description An event. */
        TestEvent: {
            /** @description The id of the event. */
            id: string;
            /**
             * @description The event type.
             * @enum {string}
             */
            event: "webhook.test";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description Counts the events of the account without a gap. */
            sequence: number;
            /** @description Counts the changes of what it is about. */
            version: number;
            /** @description What the test says. */
            data: components["schemas"]["TestEventData"];
        };
        /** @description What a test event says. */
        TestEventData: {
            /** @description The id of the endpoint. */
            webhook_id: string;
            /** @description That nothing has happened. */
            message: string;
        };
        /** @description A payment with test money. */
        TestPayment: {
            asset: components["schemas"]["AssetSymbol"];
            /** @description Who got it. */
            address: string;
            /** @description How much, in the asset. */
            amount: string;
            /** @description The hash of the transaction. */
            tx_hash: string;
        };
        /** @description An API token, without itself. */
        Token: {
            /** @description The id of the token. It is not the token itself. */
            id: string;
            /** @description What it is for. */
            name: string;
            /** @description Its last four characters. */
            hint: string;
            /**
             * @description Whether it is valid.
             * @enum {string}
             */
            state: "active" | "expired" | "revoked";
            /** @description Whether this request was sent with it. */
            current: boolean;
            /** @description What it may do; null: everything. */
            scopes: components["schemas"]["Scope"][] | null;
            /** @description The networks from which it may be used; null: from everywhere. */
            allowed_ips: string[] | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires; null: it is valid until it is revoked.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked, or null.
             */
            revoked_at: string | null;
            /** @description The token that took its place, or null. */
            replaced_by: string | null;
            /**
             * Format: date-time
             * @description When it was last used, to the minute; null: never.
             */
            last_used_at: string | null;
            /** @description From which address, or null. */
            last_used_ip: string | null;
        };
        /** @description A page of a list. */
        TokenPage: {
            /** @description The items, newest first. */
            data: components["schemas"]["Token"][];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description An error that has a message alone. */
        Unauthenticated: {
            /**
             * @description What is wrong.
             * @constant
             */
            message: "Unauthenticated.";
        };
        /** @description Received funds that are in no balance. */
        Unresolved: {
            /** @description The id of the unresolved funds. */
            id: string;
            /**
             * @description `open`: you have not decided yet.
             * @enum {string}
             */
            status: "open" | "accepted" | "returning" | "returned" | "reversed";
            /**
             * @description Why they are in no balance, or null.
             * @enum {string|null}
             */
            reason: "late" | "underpaid" | "wrong_asset" | "too_small" | null;
            /** @description What is left, or what the last decision was about, in the asset. */
            amount: string;
            /** @description What payouts of parts are paying back. */
            returning_amount: string;
            /** @description What payouts of parts have paid back. */
            returned_amount: string;
            asset: components["schemas"]["ReducedAsset"];
            /** @description The invoice whose address received them, or null. */
            invoice_id: string | null;
            /** @description The hash of the transaction, or null. */
            tx_hash: string | null;
            /** @description The payout that takes all that was left, or null. */
            payout_id: number | null;
            /**
             * Format: date-time
             * @description When they were received.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When you decided, or null.
             */
            resolved_at: string | null;
        };
        /** @description A page of a list. */
        UnresolvedPage: {
            /** @description The items, newest first. */
            data: components["schemas"]["Unresolved"][];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description An event. */
        UnresolvedPaymentEvent: {
            /** @description The id of the event. */
            id: string;
            /**
             * @description The event type.
             * @enum {string}
             */
            event: "invoice.unresolved_payment";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description Counts the events of the account without a gap. */
            sequence: number;
            /** @description Counts the changes of what it is about. */
            version: number;
            /** @description The invoice at that moment, and the funds. */
            data: components["schemas"]["InvoiceWithUnresolvedPayment"];
        };
        /** @description What was created on one day, and what of it is paid. */
        VolumeDay: {
            /** @description The day in UTC. */
            date: string;
            /** @description How many invoices were created. */
            created: number;
            /** @description How many of them are paid by now. */
            paid: number;
            /** @description The same for each currency in which invoices were created: none on a day without invoices. */
            currencies: {
                /** @description The currency of the prices. */
                currency: components["schemas"]["Currency"];
                /** @description How many invoices were created. */
                created: number;
                /** @description How many of them are paid by now. */
                paid: number;
                /** @description The sum of the prices of those that are paid. */
                paid_amount: string;
            }[];
        };
        VolumeDays: {
            /** @description Every day, the first one first. */
            data: components["schemas"]["VolumeDay"][];
        };
        /** @description An endpoint that receives events. */
        Webhook: {
            /** @description The id of the endpoint. */
            id: string;
            /** @description Where events are sent to. */
            url: string;
            /** @description The event types that it receives. */
            events: ("invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "payout.completed" | "payout.failed" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.unresolved_payment" | "invoice.payment_reversed" | "refund.expired" | "refund.unfunded" | "automatic_payout.failed" | "invoice.asset_chosen" | "invoice.partially_paid" | "payout.created" | "webhook.test")[];
            /** @description Your own text, or null. */
            description: string | null;
            /** @description Whether events are sent to it. */
            enabled: boolean;
            /** @description Why it is disabled, or null. */
            disabled_reason: string | null;
            /**
             * Format: date-time
             * @description When it was last disabled, or null.
             */
            disabled_at: string | null;
            /**
             * Format: date-time
             * @description From when to replay, or null.
             */
            missed_since: string | null;
            /**
             * Format: date-time
             * @description No delivery has arrived since then; null while deliveries succeed.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description The end of the pause that it asked for, or null.
             */
            paused_until: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
        };
        /** @description A page of a list. */
        WebhookPage: {
            /** @description The items, newest first. */
            data: components["schemas"]["Webhook"][];
            links: components["schemas"]["PageLinks"];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description The public keys of an endpoint. */
        WebhookPublicKeys: {
            /** @description They verify the signatures `v1a`, newest first. */
            public_keys: string[];
        };
        /** @description A new endpoint with its secret. */
        WebhookWithSecret: {
            /** @description The id of the endpoint. */
            id: string;
            /** @description Where events are sent to. */
            url: string;
            /** @description The event types that it receives. */
            events: ("invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "payout.completed" | "payout.failed" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.unresolved_payment" | "invoice.payment_reversed" | "refund.expired" | "refund.unfunded" | "automatic_payout.failed" | "invoice.asset_chosen" | "invoice.partially_paid" | "payout.created" | "webhook.test")[];
            /** @description Your own text, or null. */
            description: string | null;
            /** @description Whether events are sent to it. */
            enabled: boolean;
            /** @description Why it is disabled, or null. */
            disabled_reason: string | null;
            /**
             * Format: date-time
             * @description When it was last disabled, or null.
             */
            disabled_at: string | null;
            /**
             * Format: date-time
             * @description From when to replay, or null.
             */
            missed_since: string | null;
            /**
             * Format: date-time
             * @description No delivery has arrived since then; null while deliveries succeed.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description The end of the pause that it asked for, or null.
             */
            paused_until: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description What its deliveries are signed with. Shown only here. */
            secret: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    listInvoices: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
                /** @description Only those with this status. */
                status?: "pending" | "confirmed" | "partially_paid" | "paid" | "expired";
                /** @description Only those in this asset. */
                asset?: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                /** @description Only those with this reference of yours. */
                external_id?: string;
                /** @description Only those whose reference begins so. */
                external_id_prefix?: string;
                /** @description Only that with this payment address. */
                address?: string;
                /** @description Only those with a payment of this transaction. */
                tx_hash?: string;
                /** @description Only those with this price, in whatever currency. */
                amount_fiat?: number | string;
                /** @description Only those in this currency. */
                currency?: "USD" | "EUR" | "GBP" | "CHF" | "JPY" | "CAD" | "AUD";
                /** @description Only those of this payment link. */
                payment_link_id?: string;
                /** @description Created at this moment or later. */
                created_from?: string;
                /** @description Created at this moment or earlier. */
                created_to?: string;
                /** @description Paid at this moment or later. */
                paid_from?: string;
                /** @description Paid at this moment or earlier. */
                paid_to?: string;
                /** @description Shows each item in full, with its payments. */
                expand?: "payments"[];
                /** @description `csv` answers a file of all that the filters match. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of invoices. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoicePage"];
                    "text/csv": string;
                };
            };
        };
    };
    createInvoice: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: repeating it with the same key and body answers as the first time. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The symbol of an active asset. Give this or `assets`.
                     * @enum {string}
                     */
                    asset?: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                    /** @description What the payer may choose from: symbols of active assets, or `all`. */
                    assets?: ("BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON")[] | "all";
                    /** @description The price in `currency`, worth at least 5 US dollars, with at most two decimals. */
                    amount: number | string;
                    /**
                     * @description The currency of `amount`. Default: the setting of the account.
                     * @enum {string|null}
                     */
                    currency?: "USD" | "EUR" | "GBP" | "CHF" | "JPY" | "CAD" | "AUD" | null;
                    /** @description Minutes to pay. Default: the setting of the account. */
                    expires_in?: number | null;
                    /** @description Your own reference. */
                    external_id?: string | null;
                    /** @description What the payment page shows to your customer. */
                    description?: string | null;
                    /**
                     * @description An object of your own texts, which nobody but you sees. At most 8 kB.
                     * @default {}
                     */
                    metadata?: {
                        [key: string]: string;
                    } | null;
                    /**
                     * Format: uri
                     * @description Where the payment page leads when the invoice is paid.
                     */
                    succeed_url?: string | null;
                    /**
                     * Format: uri
                     * @description Where the payment page leads when the invoice has expired.
                     */
                    timeout_url?: string | null;
                };
            };
        };
        responses: {
            /** @description The invoice. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Invoice"];
                    };
                };
            };
        };
    };
    getInvoice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the invoice. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The invoice, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
        };
    };
    cancelInvoice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the invoice. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The invoice. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Invoice"];
                    };
                };
            };
        };
    };
    getInvoiceSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceSettings"];
                };
            };
        };
    };
    updateInvoiceSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The currency of new invoices.
                     * @enum {string}
                     */
                    currency?: "USD" | "EUR" | "GBP" | "CHF" | "JPY" | "CAD" | "AUD";
                    /** @description Minutes to pay; null: new invoices never expire. */
                    expires_in?: number | null;
                    /** @description Per cent, with at most two decimals: an invoice is paid when at most so much is missing. */
                    tolerance?: number | string;
                    /** @description The name that the pages of customers show; null: none. */
                    shop_name?: string | null;
                    /** @description The picture that they show: a data URI of a PNG, JPEG or WebP, at most 8,192 characters; null: none. */
                    shop_logo?: string | null;
                    /**
                     * @description The language of these pages; null: as each customer's browser asks.
                     * @enum {string|null}
                     */
                    language?: "en" | "de" | "es" | "fr" | "it" | "pt" | "ru" | "zh" | "ja" | "ar" | null;
                    /**
                     * @description The hosts that the `succeed_url` and `timeout_url` of new invoices and payment links may have; empty: any.
                     * @default []
                     */
                    redirect_hosts?: string[] | null;
                    /**
                     * @description The origins of https that may show these pages in a frame; empty: none.
                     * @default []
                     */
                    frame_ancestors?: string[] | null;
                };
            };
        };
        responses: {
            /** @description The settings. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["InvoiceSettings"];
                    };
                };
            };
        };
    };
    listVolume: {
        parameters: {
            query?: {
                /** @description The first day. Default: 30 days with the last one. */
                from?: string;
                /** @description The last day, which is included. Default: today. */
                to?: string;
                /** @description Only invoices with prices in this currency. */
                currency?: "USD" | "EUR" | "GBP" | "CHF" | "JPY" | "CAD" | "AUD";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The days. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VolumeDays"];
                };
            };
        };
    };
    listPaymentLinks: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of payment links. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentLinkPage"];
                };
            };
        };
    };
    createPaymentLink: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: repeating it with the same key and body answers as the first time. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The price in `currency`. Without it the payer types the amount. */
                    amount?: number | string | null;
                    /** @description The least that the payer may type. Not together with `amount`. */
                    amount_min?: number | string | null;
                    /** @description The most that the payer may type. Not together with `amount`. */
                    amount_max?: number | string | null;
                    /** @description What is paid. The page shows it. */
                    description: string;
                    /**
                     * @description An object of your own texts, which nobody but you sees. At most 8 kB.
                     * @default {}
                     */
                    metadata?: {
                        [key: string]: string;
                    } | null;
                    /**
                     * Format: uri
                     * @description Where the payment page leads when the invoice is paid.
                     */
                    succeed_url?: string | null;
                    /**
                     * Format: uri
                     * @description Where the payment page leads when the invoice has expired.
                     */
                    timeout_url?: string | null;
                    /** @description Minutes to pay. Default: the setting of the account. */
                    expires_in?: number | null;
                    /** @description When the link ends. Default: never. */
                    valid_until?: string | null;
                    /** @description The same in days from now. Not together with `valid_until`. */
                    valid_days?: number | null;
                    /**
                     * @description How many of its invoices may be open at a time.
                     * @default 100
                     */
                    max_open?: number | null;
                    /**
                     * @description The symbol of an active asset. Default: the payer chooses.
                     * @enum {string}
                     */
                    asset?: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                    /** @description What the payer may choose from. Not together with `asset`. */
                    assets?: ("BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON")[] | "all";
                    /**
                     * @description The currency of the amounts. Default: the setting of the account.
                     * @enum {string|null}
                     */
                    currency?: "USD" | "EUR" | "GBP" | "CHF" | "JPY" | "CAD" | "AUD" | null;
                };
            };
        };
        responses: {
            /** @description The link. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["PaymentLink"];
                    };
                };
            };
        };
    };
    getPaymentLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the payment link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentLink"];
                };
            };
        };
    };
    updatePaymentLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the payment link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description How many of its invoices may be open at a time. */
                    max_open: number;
                };
            };
        };
        responses: {
            /** @description The link. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["PaymentLink"];
                    };
                };
            };
        };
    };
    deactivatePaymentLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the payment link. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The link. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PaymentLink"];
                    };
                };
            };
        };
    };
    refundInvoice: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: repeating it with the same key and body answers as the first time. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the invoice. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description In the currency of the invoice; `all` that is left, or the `surplus` over what was due. */
                    amount: (number | string) | ("all" | "surplus");
                    /**
                     * @description `then`: the rate that the invoice locked. `now`: the current rates.
                     * @default then
                     * @enum {string|null}
                     */
                    rate?: "then" | "now" | null;
                    /** @description The recipient. Without it you get a claim link. */
                    address?: string | null;
                    /** @description How many days the claim link is valid. Default: 30. Not together with `address`. */
                    expires_in_days?: number | null;
                    /** @description Your own reference. */
                    external_id?: string | null;
                    /**
                     * @description An object of your own texts. At most 8 kB.
                     * @default {}
                     */
                    metadata?: {
                        [key: string]: string;
                    } | null;
                };
            };
        };
        responses: {
            /** @description The refund. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedRefund"];
                };
            };
        };
    };
    listRefunds: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
                /** @description Only those with this status. */
                status?: "claimable" | "pending" | "completed" | "failed" | "expired" | "cancelled";
                /** @description Only those in this asset. */
                asset?: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                /** @description Only those of this invoice. */
                invoice_id?: string;
                /** @description Only those of these unresolved funds. */
                deposit_id?: string;
                /** @description Only those with this reference of yours. */
                external_id?: string;
                /** @description Created at this moment or later. */
                created_from?: string;
                /** @description Created at this moment or earlier. */
                created_to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of refunds. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefundPage"];
                };
            };
        };
    };
    getRefund: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the refund. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The refund, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refund"];
                };
            };
        };
    };
    cancelRefund: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the refund. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The refund. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Refund"];
                    };
                };
            };
        };
    };
    returnUnresolved: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: repeating it with the same key and body answers as the first time. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the unresolved funds. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The recipient. Give this, or `claim`. */
                    address?: string | null;
                    /** @description True: a claim link, on which your customer gives the address. */
                    claim?: boolean | null;
                    /** @description What the return takes of the funds, in their asset. Default: all that is left. */
                    amount?: number | string | null;
                    /** @description How many days the claim link is valid. Default: 30. */
                    expires_in_days?: number | null;
                    /** @description Your own reference. */
                    external_id?: string | null;
                    /**
                     * @description An object of your own texts. At most 8 kB.
                     * @default {}
                     */
                    metadata?: {
                        [key: string]: string;
                    } | null;
                };
            };
        };
        responses: {
            /** @description The id of the payout, or a refund with its claim link. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedPayout"] | components["schemas"]["CreatedRefund"];
                };
            };
        };
    };
    listPayouts: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
                /** @description Only those with this status. */
                status?: "pending" | "mined" | "failed";
                /** @description `waiting`: only those that wait for an approval. */
                approval?: "waiting";
                /** @description Only those in this asset. */
                asset?: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                /** @description Created at this moment or later. */
                created_from?: string;
                /** @description Created at this moment or earlier. */
                created_to?: string;
                /** @description Only those with this reference of yours. */
                external_id?: string;
                /** @description Only those that pay back these unresolved funds. */
                deposit_id?: string;
                /** @description Only those that pay this refund. */
                refund_id?: string;
                /** @description Only those that refund this invoice. */
                invoice_id?: string;
                /** @description Only that with this transaction. */
                tx_hash?: string;
                /** @description Only those of this batch. */
                batch_id?: string;
                /** @description Only those to this recipient. */
                to_address?: string;
                /** @description `csv` answers a file of all that the filters match. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of payouts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayoutPage"];
                    "text/csv": string;
                };
            };
        };
    };
    createPayout: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: repeating it with the same key and body answers as the first time. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The symbol of an active asset.
                     * @enum {string}
                     */
                    asset: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                    /** @description What the recipient gets, in the asset; `max`: all of the balance after the network fee. */
                    amount: (number | string) | "max";
                    /** @description The recipient. A payout cannot be undone. */
                    address: string;
                    /** @description Your own reference. */
                    external_id?: string | null;
                    /**
                     * @description An object of your own texts. At most 8 kB.
                     * @default {}
                     */
                    metadata?: {
                        [key: string]: string;
                    } | null;
                };
            };
        };
        responses: {
            /** @description The id of the payout. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedPayout"];
                };
            };
        };
    };
    quotePayout: {
        parameters: {
            query: {
                /** @description The symbol of an active asset. */
                asset: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                /** @description As for a payout. */
                amount: (number | string) | "max";
                /** @description The recipient, to be checked. */
                address?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The quote, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayoutQuote"];
                };
            };
        };
    };
    getPayout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the payout. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payout, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payout"];
                };
            };
        };
    };
    listPayoutAttempts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the payout. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its transactions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The transactions. */
                        data: components["schemas"]["PayoutAttempt"][];
                    };
                };
            };
        };
    };
    listHaltedAssets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The halted assets: usually none. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The assets, the longest halted first. */
                        data: components["schemas"]["HaltedAsset"][];
                    };
                };
            };
        };
    };
    cancelPayout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the payout. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is cancelled: amount and fee return. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Payout"];
                        /** @description When this has disabled an automatic payout. */
                        hint?: string;
                    };
                };
            };
            /** @description It is not decided yet: repeat the request. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Payout"];
                    };
                };
            };
        };
    };
    approvePayout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the payout. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The payout. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Payout"];
                    };
                };
            };
        };
    };
    rejectPayout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the payout. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The payout. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Payout"];
                    };
                };
            };
        };
    };
    listPayoutBatches: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of batches. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayoutBatchPage"];
                };
            };
        };
    };
    createPayoutBatch: {
        parameters: {
            query?: {
                /** @description Of a file: as in the body. */
                mode?: "each" | "all_or_nothing";
            };
            header?: {
                /** @description Names the request: repeating it with the same key and body answers as the first time. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description `each`: each line is paid or not by itself. `all_or_nothing`: all lines are paid, or none.
                     * @enum {string}
                     */
                    mode: "each" | "all_or_nothing";
                    /** @description The payouts, each as for `createPayout`, with a number as `amount`. */
                    payouts: {
                        /**
                         * @description The symbol of an active asset.
                         * @enum {string}
                         */
                        asset: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                        /** @description What the recipient gets, in the asset. */
                        amount: number | string;
                        /** @description The recipient. A payout cannot be undone. */
                        address: string;
                        /** @description Your own reference. */
                        external_id?: string | null;
                        /**
                         * @description An object of your own texts. At most 8 kB.
                         * @default {}
                         */
                        metadata?: {
                            [key: string]: string;
                        } | null;
                    }[];
                };
                "text/csv": string;
            };
        };
        responses: {
            /** @description What became of each line: read `totals`. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["PayoutBatch"];
                    };
                };
            };
        };
    };
    getPayoutBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the batch. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The batch, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayoutBatch"];
                };
            };
        };
    };
    listAutomaticPayouts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All automatic payouts of the account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The rules. */
                        data: components["schemas"]["AutomaticPayout"][];
                    };
                };
            };
        };
    };
    putAutomaticPayout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The symbol of the asset. */
                asset: components["schemas"]["AssetSymbol"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The recipient. */
                    address: string;
                    /**
                     * @description `daily`: once a day, after midnight UTC. `threshold`: whenever the balance covers `threshold` and the network fee.
                     * @enum {string}
                     */
                    schedule: "daily" | "threshold";
                    /** @description The least amount that is worth a payout, without the network fee. Needed for `threshold`. */
                    threshold?: number | string | null;
                    /**
                     * @description False keeps the rule and pays nothing.
                     * @default true
                     */
                    enabled?: boolean | null;
                };
            };
        };
        responses: {
            /** @description The rule. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["AutomaticPayout"];
                    };
                };
            };
        };
    };
    deleteAutomaticPayout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The symbol of the asset. */
                asset: components["schemas"]["AssetSymbol"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    getPayoutPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The policy, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayoutPolicy"];
                };
            };
        };
    };
    putPayoutPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Whether payouts go to the address book alone.
                     * @default false
                     */
                    allow_list?: boolean | null;
                    /**
                     * @description How long a new address and a change that allows more wait.
                     * @default 24
                     */
                    delay_hours?: number | null;
                    /** @description What is allowed of payouts in an asset. An asset that is not named has no limit. */
                    limits?: {
                        /**
                         * @description The asset.
                         * @enum {string}
                         */
                        asset: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                        /** @description The most that one payout may be. */
                        per_payout?: number | string | null;
                        /** @description The most that the payouts of any 24 hours may be together. */
                        per_24h?: number | string | null;
                        /** @description A payout of more waits for approvals. `0`: each does. */
                        approval_above?: number | string | null;
                        /** @description How many other tokens must approve it, 1 without this. */
                        approvals?: number | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description The policy. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["PayoutPolicy"];
                    };
                };
            };
        };
    };
    listAddressBook: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of addresses. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayoutAddressPage"];
                };
            };
        };
    };
    addAddress: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The network.
                     * @enum {string}
                     */
                    chain: "bitcoin" | "ethereum" | "solana" | "base" | "polygon";
                    /** @description The recipient. */
                    address: string;
                    /** @description Whose it is. */
                    label: string;
                };
            };
        };
        responses: {
            /** @description It was there before. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["PayoutAddress"];
                    };
                };
            };
            /** @description It is added. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["PayoutAddress"];
                    };
                };
            };
        };
    };
    deleteAddress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the entry. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    listBalances: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One entry for each active asset. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The balances. */
                        data: components["schemas"]["Balance"][];
                    };
                };
            };
        };
    };
    listBalanceTransactions: {
        parameters: {
            query?: {
                /** @description At most so many. Default: 10. */
                limit?: number;
                /** @description The id after which the page begins: older ones. */
                starting_after?: string;
                /** @description The id before which the page ends: newer ones. Not together with `starting_after`. */
                ending_before?: string;
                /** @description Only those of this asset. */
                asset?: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                /** @description Only those of this type. */
                type?: "payment" | "payment_reversal" | "payment_recovery" | "unresolved_accepted" | "payout" | "payout_failed" | "payout_voided" | "refund" | "refund_failed" | "refund_voided";
                /** @description Only those of this invoice, payout or deposit. */
                source?: string;
                /** @description Booked at this moment or later. */
                created_from?: string;
                /** @description Booked at this moment or earlier. */
                created_to?: string;
                /** @description What `value` is in. */
                currency?: "USD" | "EUR" | "GBP" | "CHF" | "JPY" | "CAD" | "AUD";
                /** @description `csv` answers a file of all that the filters match. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A part of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BalanceTransactionPage"];
                    "text/csv": string;
                };
            };
        };
    };
    getStatement: {
        parameters: {
            query: {
                /** @description A month (UTC) that has begun, such as 2026-11. */
                month: string;
                /** @description The symbol of the asset. */
                asset: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                /** @description What values are in. */
                currency?: "USD" | "EUR" | "GBP" | "CHF" | "JPY" | "CAD" | "AUD";
                /** @description `csv` answers a file, `html` a page to print. */
                format?: "json" | "csv" | "html";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statement, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statement"];
                    "text/csv": string;
                    "text/html": string;
                };
            };
        };
    };
    listAssets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The active assets. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The assets, in the order of their ids. */
                        data: components["schemas"]["Asset"][];
                    };
                };
            };
        };
    };
    listUnresolved: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
                /** @description Only those with this status. */
                status?: "open" | "accepted" | "returning" | "returned" | "reversed";
                /** @description Only those in this asset. */
                asset?: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                /** @description Only those of this invoice. */
                invoice_id?: string;
                /** @description Only those of this transaction. */
                tx_hash?: string;
                /** @description `csv` answers a file of all that the filters match. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of unresolved funds. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnresolvedPage"];
                    "text/csv": string;
                };
            };
        };
    };
    getUnresolved: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the unresolved funds. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The funds, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Unresolved"];
                };
            };
        };
    };
    acceptUnresolved: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the unresolved funds. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The funds. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Unresolved"];
                    };
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of endpoints. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uri
                     * @description Where events are sent to: https, a public host, no user name or password.
                     */
                    url: string;
                    /**
                     * @description The event types that it receives. Default: those that most shops need.
                     * @default [
                     *       "invoice.created",
                     *       "invoice.confirmed",
                     *       "invoice.paid",
                     *       "invoice.expired",
                     *       "payout.completed",
                     *       "payout.failed",
                     *       "invoice.underpaid",
                     *       "invoice.overpaid",
                     *       "invoice.late_payment",
                     *       "invoice.unresolved_payment",
                     *       "invoice.payment_reversed",
                     *       "refund.expired",
                     *       "refund.unfunded",
                     *       "automatic_payout.failed"
                     *     ]
                     */
                    events?: ("invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "payout.completed" | "payout.failed" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.unresolved_payment" | "invoice.payment_reversed" | "refund.expired" | "refund.unfunded" | "automatic_payout.failed" | "invoice.asset_chosen" | "invoice.partially_paid" | "payout.created" | "webhook.test")[] | null;
                    /** @description Your own text. */
                    description?: string | null;
                };
            };
        };
        responses: {
            /** @description The endpoint. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["WebhookWithSecret"];
                    };
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uri
                     * @description Where events are sent to: https, a public host, no user name or password.
                     */
                    url?: string;
                    /** @description The event types that it receives. */
                    events?: ("invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "payout.completed" | "payout.failed" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.unresolved_payment" | "invoice.payment_reversed" | "refund.expired" | "refund.unfunded" | "automatic_payout.failed" | "invoice.asset_chosen" | "invoice.partially_paid" | "payout.created" | "webhook.test")[];
                    /** @description Your own text. */
                    description?: string | null;
                    /** @description Whether events are sent to it. */
                    enabled?: boolean;
                };
            };
        };
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    enableWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    disableWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description How long the former secrets stay valid; 0: they end now.
                     * @default 24
                     */
                    overlap_hours?: number | null;
                };
            };
        };
        responses: {
            /** @description The endpoint with its secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["RotatedWebhook"];
                    };
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is queued. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["QueuedTest"];
                    };
                };
            };
        };
    };
    replayWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The beginning of the range, at most 90 days ago. */
                    from: string;
                    /** @description Its end, which is not included. */
                    to: string;
                    /** @description Event types. Default: those of the endpoint. */
                    events?: ("invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "payout.completed" | "payout.failed" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.unresolved_payment" | "invoice.payment_reversed" | "refund.expired" | "refund.unfunded" | "automatic_payout.failed" | "invoice.asset_chosen" | "invoice.partially_paid" | "payout.created" | "webhook.test")[] | null;
                    /**
                     * @description Also queue what was delivered.
                     * @default false
                     */
                    include_delivered?: boolean | null;
                };
            };
        };
        responses: {
            /** @description How many are queued. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Replay"];
                    };
                };
            };
        };
    };
    getWebhookPublicKeys: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPublicKeys"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Only those with this status. */
                status?: "waiting" | "sending" | "delivered" | "exhausted" | "cancelled";
                /** @description Only those of this event type. */
                event?: "invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "payout.completed" | "payout.failed" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.unresolved_payment" | "invoice.payment_reversed" | "refund.expired" | "refund.unfunded" | "automatic_payout.failed" | "invoice.asset_chosen" | "invoice.partially_paid" | "payout.created" | "webhook.test";
                /** @description Only those whose events are older than this sequence. */
                before?: number;
                /** @description At most so many. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A part of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the delivery. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    redeliver: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the delivery. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is queued. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Delivery"];
                    };
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description The sequence after which the list begins. */
                after?: number;
                /** @description At most so many. */
                limit?: number;
                /** @description Only these event types. */
                kinds?: ("invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "payout.completed" | "payout.failed" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.unresolved_payment" | "invoice.payment_reversed" | "refund.expired" | "refund.unfunded" | "automatic_payout.failed" | "invoice.asset_chosen" | "invoice.partially_paid" | "payout.created" | "webhook.test")[];
                /** @description Happened at this moment or later. */
                created_from?: string;
                /** @description Happened before this moment. */
                created_to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A part of the log. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description The sequence after which the stream begins. Default: now. */
                after?: number;
                /** @description Only these event types. */
                kinds?: ("invoice.created" | "invoice.confirmed" | "invoice.paid" | "invoice.expired" | "payout.completed" | "payout.failed" | "invoice.underpaid" | "invoice.overpaid" | "invoice.late_payment" | "invoice.unresolved_payment" | "invoice.payment_reversed" | "refund.expired" | "refund.unfunded" | "automatic_payout.failed" | "invoice.asset_chosen" | "invoice.partially_paid" | "payout.created" | "webhook.test")[];
            };
            header?: {
                /** @description The sequence of the last event that was read. It overrides `after`. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the event. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    listMailRecipients: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The recipients. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MailRecipientList"];
                };
            };
        };
    };
    createMailRecipient: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The e-mail address. */
                    address: string;
                    /**
                     * @description What it is told of: `paid`, `paid_late`, `paid_short` (too small, or in another asset), `payout_failed`, `webhook_failing`. Default: all.
                     * @default [
                     *       "paid",
                     *       "paid_late",
                     *       "paid_short",
                     *       "payout_failed",
                     *       "webhook_failing"
                     *     ]
                     */
                    kinds?: ("paid" | "paid_late" | "paid_short" | "payout_failed" | "webhook_failing")[] | null;
                };
            };
        };
        responses: {
            /** @description The recipient. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["MailRecipient"];
                    };
                };
            };
        };
    };
    getMailRecipient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the recipient. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The recipient, as the body itself. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MailRecipient"];
                };
            };
        };
    };
    deleteMailRecipient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the recipient. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is removed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    updateMailRecipient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the recipient. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description What it is told of from now on. */
                    kinds: ("paid" | "paid_late" | "paid_short" | "payout_failed" | "webhook_failing")[];
                };
            };
        };
        responses: {
            /** @description The recipient. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["MailRecipient"];
                    };
                };
            };
        };
    };
    sendMailCode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the recipient. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is queued. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["MailRecipient"];
                    };
                };
            };
        };
    };
    confirmMailRecipient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the recipient. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The code of the newest e-mail. */
                    code: string;
                };
            };
        };
        responses: {
            /** @description The recipient. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["MailRecipient"];
                    };
                };
            };
        };
    };
    testMailRecipient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the recipient. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is queued. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["MailRecipient"];
                    };
                };
            };
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tokens. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a key of the account that was used before creates nothing. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description What it is for, in one line. */
                    name: string;
                    /** @description What it may do. Default: what your own token may. */
                    scopes?: ("invoices:read" | "invoices:write" | "refunds:read" | "refunds:write" | "payouts:read" | "payouts:write" | "payouts:approve" | "policy:read" | "policy:write" | "balances:read" | "unresolved:read" | "unresolved:write" | "webhooks:read" | "webhooks:write" | "events:read" | "mail:read" | "mail:write" | "settings:read" | "settings:write" | "tokens:read" | "tokens:write" | "requests:read" | "audit:read")[] | null;
                    /** @description Addresses and networks (CIDR), IPv4 and IPv6, from which it may be used. Default: those of your own token. */
                    allowed_ips?: string[] | null;
                    /** @description When it expires. Default: when your own token does. */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description The token. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["NewToken"];
                    };
                };
            };
        };
    };
    getToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the token. It is not the token itself. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the token. It is not the token itself. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is revoked. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    rotateToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request: a key of the account that was used before creates nothing. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the token. It is not the token itself. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description How long the former token stays valid; 0: it ends now.
                     * @default 24
                     */
                    overlap_hours?: number | null;
                    /** @description When the new token expires. Default: when the former one would have. */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description The new token. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["RotatedToken"];
                    };
                };
            };
        };
    };
    listRequests: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of requests. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailedRequestPage"];
                };
            };
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                /** @description The number of the page. */
                page?: number;
                /** @description How many items a page has. */
                perPage?: number;
                /** @description `csv` answers a file of all entries. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntryPage"];
                    "text/csv": string;
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The e-mail address. */
                    email: string;
                    /** @description The password. */
                    password: string;
                    /** @description Six digits of the app, or a recovery code, where the person has set them up. */
                    code?: string | null;
                    /** @description The account to act for. Default: the one that the person was in first. */
                    account_id?: string | null;
                };
            };
        };
        responses: {
            /** @description The person has signed in. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["SignedIn"];
                    };
                };
            };
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The token of the invitation. */
                    token: string;
                    /** @description The name of the person, in one line. */
                    name?: string | null;
                    /** @description At least 12 characters. Common ones and those with the name of the address are refused. */
                    password?: string | null;
                };
            };
        };
        responses: {
            /** @description It is accepted: the person can sign in. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The person, the account and the role. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
        };
    };
    stepUp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The password. */
                    password: string;
                    /** @description Six digits of the app, or a recovery code, where the person has set them up. */
                    code?: string | null;
                };
            };
        };
        responses: {
            /** @description The password is right. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["SignedIn"];
                    };
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
        };
    };
    endOtherSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description They are ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session, or `current`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The present password. */
                    current_password: string;
                    /** @description The new one. */
                    password: string;
                };
            };
        };
        responses: {
            /** @description It is changed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    beginTotp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["NewTotpSecret"];
                    };
                };
            };
        };
    };
    removeTotp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description They are removed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    confirmTotp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A code of the app. */
                    code: string;
                };
            };
        };
        responses: {
            /** @description The recovery codes. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["NewRecoveryCodes"];
                    };
                };
            };
        };
    };
    replaceRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The recovery codes. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["NewRecoveryCodes"];
                    };
                };
            };
        };
    };
    beginPasskeySignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The options. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["PasskeyRequestOptions"];
                    };
                };
            };
        };
    };
    signInWithPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description What `navigator.credentials.get()` returns, as its `toJSON()`. Other fields are ignored. */
                    credential: {
                        /** @description The id that the device gave the passkey, in base64url, as all bytes here. */
                        id: string;
                        /** @description The same. */
                        rawId: string;
                        /**
                         * @description The type of the credential.
                         * @constant
                         */
                        type: "public-key";
                        /** @description What the device returns. */
                        response: {
                            /** @description What the browser says: challenge and origin. */
                            clientDataJSON: string;
                            /** @description What the device says: host name, counter. */
                            authenticatorData: string;
                            /** @description The signature of both. */
                            signature: string;
                            /** @description What the device has as the id of the person. */
                            userHandle?: string | null;
                        };
                    };
                    /** @description The account to act for. Default: the one that the person was in first. */
                    account_id?: string | null;
                };
            };
        };
        responses: {
            /** @description The person has signed in. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["SignedIn"];
                    };
                };
            };
        };
    };
    beginPasskeyStepUp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The options. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["PasskeyRequestOptions"];
                    };
                };
            };
        };
    };
    stepUpWithPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description What `navigator.credentials.get()` returns, as its `toJSON()`. Other fields are ignored. */
                    credential: {
                        /** @description The id that the device gave the passkey, in base64url, as all bytes here. */
                        id: string;
                        /** @description The same. */
                        rawId: string;
                        /**
                         * @description The type of the credential.
                         * @constant
                         */
                        type: "public-key";
                        /** @description What the device returns. */
                        response: {
                            /** @description What the browser says: challenge and origin. */
                            clientDataJSON: string;
                            /** @description What the device says: host name, counter. */
                            authenticatorData: string;
                            /** @description The signature of both. */
                            signature: string;
                            /** @description What the device has as the id of the person. */
                            userHandle?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description The passkey is accepted. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["SignedIn"];
                    };
                };
            };
        };
    };
    listPasskeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The passkeys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyList"];
                };
            };
        };
    };
    addPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name of the passkey, in one line. */
                    name: string;
                    /** @description What `navigator.credentials.create()` returns, as its `toJSON()`. Other fields are ignored. */
                    credential: {
                        /** @description The id that the device gave the passkey, in base64url, as all bytes here. */
                        id: string;
                        /** @description The same. */
                        rawId: string;
                        /**
                         * @description The type of the credential.
                         * @constant
                         */
                        type: "public-key";
                        /** @description What the device returns. */
                        response: {
                            /** @description What the browser says: challenge and origin. */
                            clientDataJSON: string;
                            /** @description The public key, as the device gives it. */
                            attestationObject: string;
                            /** @description How the device is reached. */
                            transports?: string[] | null;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description The passkey. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Passkey"];
                    };
                };
            };
        };
    };
    beginPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The options. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["PasskeyCreationOptions"];
                    };
                };
            };
        };
    };
    removePasskey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the passkey. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is removed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    renamePasskey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the passkey. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name of the passkey, in one line. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description The passkey with the new name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Passkey"];
                    };
                };
            };
        };
    };
    listPeople: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PersonList"];
                };
            };
        };
    };
    removePerson: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the person. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The person is removed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    changeRole: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the person. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The new role.
                     * @enum {string}
                     */
                    role: "owner" | "admin" | "developer" | "accountant" | "viewer";
                };
            };
        };
        responses: {
            /** @description The person with the new role. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["Person"];
                    };
                };
            };
        };
    };
    listInvitations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationList"];
                };
            };
        };
    };
    invite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The e-mail address. */
                    email: string;
                    /**
                     * @description The role.
                     * @enum {string}
                     */
                    role: "owner" | "admin" | "developer" | "accountant" | "viewer";
                };
            };
        };
        responses: {
            /** @description The invitation. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["NewInvitation"];
                    };
                };
            };
        };
    };
    withdrawInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the invitation. It is not its token. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its token is refused. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                    };
                };
            };
        };
    };
    payInSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The symbol of the asset.
                     * @enum {string}
                     */
                    asset: "BTC" | "ETH" | "SOL" | "USDC_ERC20" | "USDC_SOL" | "ETH_BASE" | "USDC_BASE" | "POL" | "USDC_POLYGON";
                    /** @description The address of an invoice, or any other. */
                    address: string;
                    /** @description How much, in the asset. */
                    amount: number | string;
                };
            };
        };
        responses: {
            /** @description It is sent. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was done, for people. */
                        message: string;
                        data: components["schemas"]["TestPayment"];
                    };
                };
            };
        };
    };
}
