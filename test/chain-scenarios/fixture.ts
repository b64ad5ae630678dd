import { configSchema } from '@quittance/ledger/config';
import { startLedger } from '@quittance/ledger/service';
import { invariants } from '@quittance/reconciliation/invariants';
import type { AssetSymbol } from '@quittance/shared/assets';
import { loadConfig } from '@quittance/shared/config';
import { type Db, openDb } from '@quittance/shared/db';
import type { Service } from '@quittance/shared/events';
import type { AccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import type { Quote } from '@quittance/shared/quotes';
import { gatewayKeys } from '@quittance/testkit/api';
import { aQuote, boardOf } from '@quittance/testkit/builders';
import { testDatabase, testNats } from '@quittance/testkit/engines';

export const logger = createLogger('proofs', 'silent');
/** Not a development node's own words: the accounts of those are rich already. */
export const SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

export type Terms = Partial<Record<AssetSymbol, { rate: string; confirmations: number; fee?: string }>>;

/** What the ledger records of an account's money, in smallest units. */
export type Booked = { available: bigint; held: bigint; unresolved: bigint };

/** What every proof stands on: a real Postgres, a real NATS and a real ledger, and terms that hold for its length. */
export async function startFixture(terms: Terms) {
  const [database, nats] = await Promise.all([testDatabase(), testNats()]);
  const settingsOf = (service: Service): Record<string, string> => ({
    PORT: '1',
    DATABASE_URL: database.urlOf(service),
    NATS_URL: nats.url,
    GATEWAY_PUBLIC_KEY: gatewayKeys.publicKey,
    PUBLIC_URL: 'http://pay.example',
    LOG_LEVEL: 'silent',
  });
  const ledger = await startLedger(
    { ...loadConfig('ledger', configSchema, { ...settingsOf('ledger'), PRICES: 'public' }), PORT: 0 },
    { logger, workers: false },
  );
  const db: Db = openDb({ url: database.adminUrl, schema: 'invoices', pool: 3, logger });

  return {
    db,
    natsUrl: nats.url,
    settingsOf,
    quotes: boardOf(quotesOf(terms)),
    async booked(account: AccountId, asset: AssetSymbol): Promise<Booked> {
      const row = await db.maybe<Record<keyof Booked, string>>(
        'select available::text, held::text, unresolved::text from ledger.balances where account_id = $1 and asset = $2',
        [account, asset],
      );
      return {
        available: BigInt(row?.available ?? 0),
        held: BigInt(row?.held ?? 0),
        unresolved: BigInt(row?.unresolved ?? 0),
      };
    },
    /** The discrepancies of the invariants whose services take part, as production finds them. */
    async discrepancies(numbers: readonly string[]): Promise<string[]> {
      const found: string[] = [];
      for (const { number, sql } of invariants.filter((one) => numbers.includes(one.number))) {
        const rows = await db.rows<{ what: string }>(sql, sql.includes('$1') ? [0] : []);
        found.push(...rows.map(({ what }) => `${number}: ${what}`));
      }
      return found;
    },
    async stop() {
      await Promise.all([ledger.stop(), db.close()]);
      await nats.stop();
      await database.drop();
    },
  };
}

const quotesOf = (terms: Terms): Map<string, Quote> =>
  new Map(
    Object.entries(terms).map(([asset, { rate, confirmations, fee = '1000' }]) => [
      asset,
      aQuote({
        asset: asset as AssetSymbol,
        usd_rate: rate,
        network_fee: fee,
        min_confirmations: confirmations,
        dust: '1000',
      }),
    ]),
  );
