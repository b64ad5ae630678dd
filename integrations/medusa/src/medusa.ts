/**
 * The part of Medusa's types that a payment provider has to do with (`@medusajs/framework/types`, version 2). The package needs
 * nothing of Medusa when it runs, so it follows no version of it; `test/medusa` compiles it with the original types.
 */

/** `BigNumberInput`: an amount as Medusa's modules hand it on. */
export type MedusaAmount =
  | number
  | string
  | { toFixed(): string }
  | { value: string | number }
  | { raw?: { value: string | number } | undefined; numeric?: number };

export type SessionStatus =
  | 'authorized'
  | 'captured'
  | 'pending'
  | 'requires_more'
  | 'error'
  | 'canceled'
  | 'pending_authorization';

/** What a provider keeps with a payment session. Medusa shows it to the storefront: it holds no secret. */
export type SessionData = Record<string, unknown>;
export type Context = { idempotency_key?: string };
export type ProviderInput = { data?: SessionData; context?: Context };
export type PricedInput = ProviderInput & { amount: MedusaAmount; currency_code: string };

export type Webhook = {
  data: Record<string, unknown>;
  /** As it arrived: a text or bytes. */
  rawData: string | Uint8Array;
  headers: Record<string, unknown>;
};
export type WebhookAction = {
  action: 'authorized' | 'captured' | 'failed' | 'pending' | 'requires_more' | 'canceled' | 'not_supported';
  data?: { session_id: string; amount: string };
};
