import { type Queryable, query } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { namelessShop, type Shop } from '@quittance/shared/shop-page';
import { defaultSettings, type StoredSettings } from '../domain/invoice-settings.ts';

type OfAccount<T> = T & { account: AccountId };

// Read for each new invoice: the logo is left to the pages.
const settingsColumns = 'account_id as account, currency, expires_in, tolerance_bps, redirect_hosts';
const selectSettings = query<OfAccount<StoredSettings>>(
  'invoice_settings_select',
  `select ${settingsColumns} from invoice_settings where account_id = any($1::text[])`,
);

/** The settings of accounts in their order; those of an account without a row are the defaults. */
export async function findSettings(db: Queryable, accounts: readonly AccountId[]): Promise<StoredSettings[]> {
  const rows = await db.rows(selectSettings, [[...new Set(accounts)]]);
  const found = new Map(rows.map(({ account, ...settings }) => [account, settings]));
  return accounts.map((account) => found.get(account) ?? defaultSettings);
}

const shopColumns = 'shop_name as name, shop_logo as logo, language, frame_ancestors';
const selectShops = query<OfAccount<Shop>>(
  'invoice_settings_shops',
  `select account_id as account, ${shopColumns} from invoice_settings where account_id = any($1::text[])`,
);

/** What accounts show on the pages of their customers, in their order. */
export async function findShops(db: Queryable, accounts: readonly AccountId[]): Promise<Shop[]> {
  const rows = await db.rows(selectShops, [[...new Set(accounts)]]);
  const found = new Map(rows.map(({ account, ...shop }) => [account, shop]));
  return accounts.map((account) => found.get(account) ?? namelessShop);
}

/** New values; undefined: the setting stays. */
export type SettingsChanges = {
  [K in keyof StoredSettings]?: (K extends 'toleranceBps' ? number : StoredSettings[K]) | undefined;
} & { shop: { [K in keyof Shop]?: Shop[K] | undefined } };

// One statement, so that two changes at once of different settings both stay.
const upsert = query<OfAccount<StoredSettings> & Shop>(
  'invoice_settings_upsert',
  `insert into invoice_settings as s
     (account_id, currency, expires_in, tolerance_bps, redirect_hosts, frame_ancestors, shop_name, shop_logo, language)
   values ($1, coalesce($2::text, $8::text), case when $3::bool then $4::int else $9::int end, $5::int,
     coalesce($6::text[], '{}'), coalesce($7::text[], '{}'), $11::text, $13::text, $15::text)
   on conflict (account_id) do update set
     currency = coalesce($2, s.currency),
     expires_in = case when $3 then $4 else s.expires_in end,
     tolerance_bps = coalesce($5, s.tolerance_bps),
     redirect_hosts = coalesce($6, s.redirect_hosts),
     frame_ancestors = coalesce($7, s.frame_ancestors),
     shop_name = case when $10::bool then $11 else s.shop_name end,
     shop_logo = case when $12::bool then $13 else s.shop_logo end,
     language = case when $14::bool then $15 else s.language end
   returning ${settingsColumns}, ${shopColumns}`,
);

/** Changes the given settings and returns all of them. */
export async function saveSettings(
  db: Queryable,
  account: AccountId,
  { currency, expiresIn, toleranceBps, redirectHosts, shop }: SettingsChanges,
): Promise<{ settings: StoredSettings; shop: Shop }> {
  /** Whether a value that may be null is given, and the value. */
  const given = <T>(value: T | null | undefined) => [value !== undefined, value ?? null];
  const { account: _, ...row } = await db.one(upsert, [
    account,
    currency ?? null,
    ...given(expiresIn),
    toleranceBps ?? null,
    redirectHosts ?? null,
    shop.frameAncestors ?? null,
    defaultSettings.currency,
    defaultSettings.expiresIn,
    ...given(shop.name),
    ...given(shop.logo),
    ...given(shop.language),
  ]);
  const { name, logo, language, frameAncestors, ...settings } = row;
  return { settings, shop: { name, logo, language, frameAncestors } };
}
