import { expect, it, jest } from '@jest/globals';
import { assetSymbols } from '@quittance/shared/assets';
import { connectBus } from '@quittance/shared/bus';
import { loadConfig } from '@quittance/shared/config';
import { testDatabase, testNats } from '@quittance/testkit/engines';
import { configSchema } from '../src/config.ts';
import { startAuditor } from '../src/service.ts';

/** Longer than a database may be silent, and shorter than a look at every row may take. */
const SILENCE_S = 22;
/** The timers of this process, not those of Postgres. */
const TIMES_AS_FAST = 10;

async function startedAuditor() {
  const [database, nats] = await Promise.all([testDatabase(), testNats()]);
  const env = {
    PORT: '1',
    DATABASE_URL: database.urlOf('auditor'),
    NATS_URL: nats.url,
    LOG_LEVEL: 'silent',
  };
  // Any free port: what no operator may ask for.
  const config = { ...loadConfig('auditor', configSchema, env), PORT: 0 };
  const auditor = await startAuditor(config, { workers: false });
  return {
    ports: auditor.ports,
    natsUrl: nats.url,
    async stop() {
      await auditor.stop();
      await nats.stop();
      await database.drop();
    },
  };
}

it('answers the signer over NATS what it knows of each asset', async () => {
  const auditor = await startedAuditor();
  const { logger } = auditor.ports;
  const bus = await connectBus({ url: auditor.natsUrl, service: 'signer', logger });
  try {
    const assets = assetSymbols.map((asset) => ({ asset, passed_at: null, is_halted: false }));
    expect(await bus.ask('reconciliation.read', {})).toEqual({ known: true, reply: { assets } });
  } finally {
    await bus.close();
    await auditor.stop();
  }
});

it('a database that says nothing is given up soon, but by who reads every row', async () => {
  const auditor = await startedAuditor();
  const { setTimeout: inFull } = globalThis;
  const sooner = (work: () => void, ms = 0) => inFull(work, ms / TIMES_AS_FAST);
  try {
    const silent = (db: typeof auditor.ports.slowDb) =>
      db.transaction(async (trx) => {
        await trx.rows('set local statement_timeout = 0');
        jest.spyOn(globalThis, 'setTimeout').mockImplementation(sooner as typeof setTimeout);
        await trx.rows(`select pg_sleep(${SILENCE_S / TIMES_AS_FAST})`);
        return 'answered';
      });
    const { db, slowDb } = auditor.ports;
    expect(await Promise.all([silent(db).catch(String), silent(slowDb).catch(String)])).toEqual([
      expect.stringMatching(/timeout/),
      'answered',
    ]);
  } finally {
    jest.restoreAllMocks();
    await auditor.stop();
  }
});
