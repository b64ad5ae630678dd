import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Discrepancy } from '@quittance/reconciliation/discrepancy';
import type { Service } from '@quittance/shared/events';
import type { StoredState } from '../e2e/upgrade/stored.ts';
import type { Named } from '../privileges/plan-statements.ts';

/** What a release has left: VERSION.sql.gz is its database, VERSION.json.gz is this. */
export type StoredRelease = {
  stoppedAt: string;
  account: { id: string; token: string };
  /** One of each status. */
  invoices: Record<string, string>;
  payouts: Record<string, string>;
  endpoint: { id: string; secret: string };
  /** Of this installation alone: nothing else was ever encrypted with it. */
  webhookSecretsKey: string;
  /** What the check of the records found when it was stopped, in the middle of its work: as `withoutTimes` writes it. */
  onTheWay: string[];
  /** The SQL of its services; none of what was stored before releases had it. */
  statements?: Record<Service, Named[]>;
};

export type Dump = { name: string; sql: string; stored: StoredRelease };

/** Discrepancies as they are found whenever a dump is loaded: its times are moved then. */
export const withoutTimes = (found: readonly Pick<Discrepancy, 'invariant' | 'what'>[]): string[] =>
  found
    .map(({ invariant, what }) => `${invariant} ${what.replace(/\d{4}-\d\d-\d\d [\d:.+-]+/g, '…')}`)
    .sort();

const SQL = '.sql.gz';
const unpacked = (path: string): string =>
  gunzipSync(readFileSync(new URL(path, import.meta.url))).toString('utf8');

/** The stored releases, the oldest first. */
export function releaseDumps(): Dump[] {
  const versions = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(SQL))
    .map((name) => name.slice(0, -SQL.length))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const ofReleases = versions.map((name) => {
    const stored = JSON.parse(unpacked(`./${name}.json.gz`)) as StoredRelease;
    return { name, sql: unpacked(`./${name}${SQL}`), stored };
  });
  return [beforeReleases(), ...ofReleases];
}

/** A payout that was not decided, two deposits that are not booked, one of which is a dead letter, and two unsent events. */
const ON_THE_WAY = [
  'I10 payout 1406563306789431 was asked for at … and never decided',
  'I5 deposit dep_01m83aaj4gavmk9bm6czrgzbqznmts5pr29e settled at … is not in the ledger',
  'I7 invoices sent deposit.settled evt_01m83aakh999xxqrk6q43xryxfg2ntympkh1, ledger has it as a dead letter',
  'I7 invoices sent deposit.settled evt_01m83abhw7nv4xan54zpmxfj1cywdx478hzx, ledger does not have it',
  'I7 invoices sent deposit.settled evt_01m83abhw7nv4xan54zpmxfj1cywdx478hzx, payouts does not have it',
  'I7 invoices sent invoice.created evt_01m83abj03sgew42w34yhe0gdpdq6esbvp57, webhooks does not have it',
];

/** Of 2026-11-23, from before there were releases: what test/e2e/upgrade.test.ts brings to its end on real chains. */
function beforeReleases(): Dump {
  const state = JSON.parse(unpacked('../e2e/upgrade/state.json.gz')) as StoredState;
  const { webhookSecretsKey } = JSON.parse(
    Buffer.from(state.files['secrets.json'] ?? '', 'base64').toString('utf8'),
  ) as { webhookSecretsKey: string };
  const ids = (found: readonly { role: string; id: string }[]) =>
    Object.fromEntries(found.map(({ role, id }) => [role, id]));
  return {
    name: 'b09b568',
    sql: unpacked('../e2e/upgrade/database.sql.gz'),
    stored: {
      stoppedAt: state.stoppedAt,
      account: state.account,
      endpoint: state.endpoint,
      invoices: ids(state.invoices),
      payouts: ids(state.payouts),
      webhookSecretsKey,
      onTheWay: ON_THE_WAY,
    },
  };
}
