import { type Queryable, query } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { defaultSettings, type StoredSettings } from '../domain/invoice-settings.ts';

const columns = 'account_id as account, currency, expires_in, tolerance_bps';
type SettingsRow = StoredSettings & { account: AccountId };

const selectSettings = query<SettingsRow>(
  'invoice_settings_select',
  `select ${columns} from invoice_settings where account_id = any($1::text[])`,
);

/** The settings of accounts in their order; those of an account without a row are the defaults. */
export async function findSettings(db: Queryable, accounts: readonly AccountId[]): Promise<StoredSettings[]> {
  const rows = await db.rows(selectSettings, [[...new Set(accounts)]]);
  const found = new Map(rows.map(({ account, ...settings }) => [account, settings]));
  return accounts.map((account) => found.get(account) ?? defaultSettings);
}

/** New values; undefined: the setting stays. */
export type SettingsChanges = {
  currency?: StoredSettings['currency'] | undefined;
  expiresIn?: number | null | undefined;
  toleranceBps?: number | undefined;
};

// One statement, so that two changes at once of different settings both stay.
const upsert = query<SettingsRow>(
  'invoice_settings_upsert',
  `insert into invoice_settings as s (account_id, currency, expires_in, tolerance_bps)
   values ($1, coalesce($2::text, $6::text), case when $3::bool then $4::int else $7::int end, $5::int)
   on conflict (account_id) do update set
     currency = coalesce($2, s.currency),
     expires_in = case when $3 then $4 else s.expires_in end,
     tolerance_bps = coalesce($5, s.tolerance_bps)
   returning ${columns}`,
);

/** Changes the given settings and returns all of them. */
export async function saveSettings(
  db: Queryable,
  account: AccountId,
  { currency, expiresIn, toleranceBps }: SettingsChanges,
): Promise<StoredSettings> {
  const { account: _, ...settings } = await db.one(upsert, [
    account,
    currency ?? null,
    expiresIn !== undefined,
    expiresIn ?? null,
    toleranceBps ?? null,
    defaultSettings.currency,
    defaultSettings.expiresIn,
  ]);
  return settings;
}
