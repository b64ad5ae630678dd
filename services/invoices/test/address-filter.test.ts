import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { assertProperty } from '@quittance/testkit/assert-property';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import fc from 'fast-check';
import pg from 'pg';
import { createAddressFilter, ourAddresses } from '../src/address-filter.ts';

let database: TestDatabase;
let db: Db;
/** Each process gives out addresses in its own transactions. */
let givers: pg.Client[];
beforeAll(async () => {
  database = await testDatabase();
  const logger = createLogger('test', 'silent');
  db = openDb({ url: database.urlOf('invoices'), schema: 'invoices', pool: 2, logger });
  givers = Array.from(
    { length: 3 },
    () => new pg.Client({ connectionString: database.adminUrl, options: '-c search_path=invoices' }),
  );
  for (const giver of givers) await giver.connect();
});
afterAll(async () => {
  for (const giver of givers) await giver.end();
  await db.close();
  await database.drop();
});

let made = 0;
const newAddress = (): string => `0x${(++made).toString(16).padStart(40, '0')}`;
const insert = `insert into addresses (chain, address, invoice_id, derivation_index)
  select 'ethereum', address, 'inv', 0 from unnest($1::text[]) as given(address)`;
const give = (addresses: readonly string[]) => db.rows(insert, [addresses]);

async function commit(giver: pg.Client, open: string[], committed: string[]): Promise<void> {
  if (open.length > 0) await giver.query('commit');
  committed.push(...open.splice(0));
}

describe('the filter', () => {
  it('passes every address of ours and hardly any other', async () => {
    const ours = Array.from({ length: 3_000 }, newAddress);
    const others = Array.from({ length: 20_000 }, newAddress);
    await give(ours);
    const filter = createAddressFilter('ethereum');
    expect(await filter.among(db, ours)).toEqual(ours);
    expect((await filter.among(db, others)).length).toBeLessThan(200);
  });

  it('passes addresses that are given out while it is in use, also when it outgrows its capacity', async () => {
    const filter = createAddressFilter('ethereum', 8);
    const all: string[] = [];
    for (let i = 0; i < 60; i++) {
      const some = Array.from({ length: 1 + (i % 40) }, newAddress);
      await give(some);
      all.push(...some);
      expect(await filter.among(db, all)).toEqual(all);
    }
  });

  it('misses no address that is given out concurrently, in any order of the commits', async () => {
    const step = fc.record({ place: fc.nat({ max: 2 }), does: fc.constantFrom('give', 'commit', 'look') });
    await assertProperty(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const filter = createAddressFilter('ethereum');
        const committed: string[] = [];
        const given: string[][] = [[], [], []];
        const look = async () => expect(await filter.among(db, committed)).toEqual(committed);
        for (const { place, does } of steps) {
          if (does === 'look') await look();
          const [giver, open] = [givers[place] as pg.Client, given[place] as string[]];
          if (does === 'give') {
            if (open.length === 0) await giver.query('begin');
            open.push(newAddress());
            await giver.query(insert, [open.slice(-1)]);
          }
          if (does === 'commit') await commit(giver, open, committed);
        }
        for (const [place, open] of given.entries())
          await commit(givers[place] as pg.Client, open, committed);
        await look();
      }),
      { least: 20, most: 60 },
    );
  });

  it('keeps working when the transaction that loaded it is rolled back', async () => {
    const filter = createAddressFilter('ethereum');
    const [before, after] = [newAddress(), newAddress()];
    await give([before]);
    await db
      .transaction(async (trx) => {
        await filter.among(trx, [before]);
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    await give([after]);
    expect(await filter.among(db, [before, after])).toEqual([before, after]);
  });

  it('misses none after a failover to a database whose transactions have lower numbers', async () => {
    const filter = createAddressFilter('ethereum');
    const before = newAddress();
    await give([before]);
    const ahead: Db = {
      ...db,
      async one<Row>(...asked: Parameters<Db['one']>) {
        const row = await db.one<{ next?: string }>(...asked);
        return (
          row.next === undefined ? row : { ...row, next: String(BigInt(row.next) + 1_000_000n) }
        ) as Row;
      },
    };
    expect(await filter.among(ahead, [before])).toEqual([before]);
    const after = newAddress();
    await give([after]);
    expect(await filter.among(db, [before, after])).toEqual([before, after]);
  });

  it('rejects addresses of another chain', async () => {
    const address = newAddress();
    await give([address]);
    const filter = createAddressFilter('base');
    expect(await ourAddresses(db, { chain: 'base', filter }, [address])).toEqual(new Map());
    expect(await filter.among(db, [address])).toEqual([]);
  });
});
