import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet } from '@quittance/chains/evm/wallet';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { commandSubject, commands } from '@quittance/shared/commands';
import { newAccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { api } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import { request } from 'undici';
import { compareKeys } from '../src/operations/compare-keys.ts';
import { startWorkers } from '../src/workers.ts';
import { type Fixture, MINUTE, startFixture } from './fixture.ts';

/** The first addresses of the configured public keys, and of others. */
const WORDS = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const OTHER_WORDS = `${'abandon '.repeat(11)}about`;

const chains = {
  ethereum: { asset: 'ETH', firstOf: (words: string) => openWallet(words).depositAddress(0) },
  bitcoin: {
    asset: 'BTC',
    firstOf: (words: string) => openBitcoinWallet('regtest', words).address('deposit', 0),
  },
} as const;
const names = ['ethereum', 'bitcoin'] as const satisfies (keyof typeof chains)[];

describe.each(names)('addresses of %s, derived from a public key,', (chain) => {
  const { asset, firstOf } = chains[chain];
  let fixture: Fixture;
  let signer: Bus;
  /** The answer of the signer. */
  let named: string[];
  const asked: object[] = [];

  beforeAll(async () => {
    fixture = await startFixture({ chain, unconfirmed: true });
    await fixture.scan();
  });
  afterAll(async () => {
    await signer?.close();
    await fixture.stop();
  });

  /** One step of the worker, this long after the previous one. */
  function compare(afterMs = MINUTE) {
    fixture.pass(afterMs);
    const { keys } = fixture.watchedChain;
    if (keys === undefined) throw new Error('these chains have public keys');
    return compareKeys(fixture.ports, chain, keys);
  }
  const order = () => fixture.merchant().post('/api/invoices', { asset, amount: 25 });
  async function readiness() {
    const answer = await request(`http://127.0.0.1:${fixture.service.port}/readyz`);
    return { status: answer.statusCode, body: await answer.body.json() };
  }
  const served = { status: 200, body: { ready: true, waits_for: [] } };
  const unconfirmed = expect.stringContaining(
    `no address of ${chain} is given out yet: the signer has not confirmed that ${chain.toUpperCase()}_XPUB belongs to its recovery phrase`,
  );
  const mismatch = `no address of ${chain} is given out: ${chain.toUpperCase()}_XPUB and the recovery phrase of the signer do not belong together`;

  it('are refused with 503 and a reason before the signer has confirmed its keys', async () => {
    expect(await compare()).toBe(0);
    expect(await order()).toMatchObject({ status: 503 });
    expect(await readiness()).toEqual({ status: 200, body: { ...served.body, without: [unconfirmed] } });

    signer = await connectBus({
      url: fixture.natsUrl,
      service: 'signer',
      logger: createLogger('test', 'silent'),
    });
    signer.answer(commandSubject('addresses.derive'), async (body) => {
      asked.push(commands['addresses.derive'].request.parse(body));
      return { addresses: named };
    });
    named = [];
    expect(await compare()).toBe(0);
    expect(await order()).toMatchObject({ status: 503 });
  });

  it('are given out when the signer derives the same expected address', async () => {
    named = [firstOf(WORDS)];
    expect(await compare()).toBe(0);
    expect(await order()).toMatchObject({ status: 201 });
    expect(asked.at(-1)).toEqual({ chain, from: 0, count: 1, expected: named });
    await eventually(async () => expect(await readiness()).toEqual(served));

    // Then the signer is not asked for a minute.
    const { length } = asked;
    await compare(MINUTE - 1);
    expect(asked).toHaveLength(length);
    named = [];
    await compare(1);
    expect(asked).toHaveLength(length + 1);
    await compare(MINUTE - 1);
    expect(asked).toHaveLength(length + 1);
    expect(await order()).toMatchObject({ status: 201 });
  });

  it('are refused with 503 and a reason while the signer has another recovery phrase', async () => {
    named = [firstOf(OTHER_WORDS)];
    const before = await fixture.rows('select id from invoices');
    await expect(compare()).rejects.toThrow(mismatch);
    const refused = await order();
    expect(refused.status).toBe(503);
    expect(refused.headers).toHaveProperty('retry-after');
    expect(await fixture.rows('select id from invoices')).toEqual(before);
    // Payment pages and other chains are served.
    await eventually(async () =>
      expect(await readiness()).toEqual({
        status: 200,
        body: { ...served.body, without: [expect.stringContaining(mismatch)] },
      }),
    );
    named = [];
    await expect(compare()).rejects.toThrow(mismatch);
    expect(await order()).toMatchObject({ status: 503 });
  });

  // The rest does not depend on how addresses are derived.
  if (chain !== 'ethereum') return;

  /** A replica that starts while the signer does not answer, or answers these. */
  async function another(answered: string[] = []) {
    named = answered;
    const replica = await fixture.replica();
    const keys = replica.ports.chains.get(chain)?.keys;
    if (keys === undefined) throw new Error('these chains have public keys');
    return {
      step: () => compareKeys(replica.ports, chain, keys),
      order: () =>
        api(replica.port, 'POST', '/api/invoices', {
          account: newAccountId(new Date()),
          body: { asset, amount: 25 },
          now: fixture.clock.now(),
        }),
    };
  }

  it('are refused by a replica that starts then with the signer down', async () => {
    const late = await another();
    expect(await late.order()).toMatchObject({ status: 503 });
    await expect(late.step()).rejects.toThrow(mismatch);
    expect(await late.order()).toMatchObject({ status: 503 });
  });

  it('are given out again once the recovery phrase is right', async () => {
    named = [firstOf(WORDS)];
    expect(await compare()).toBe(0);
    expect(await order()).toMatchObject({ status: 201 });
    await eventually(async () => expect(await readiness()).toEqual(served));
  });

  it('are given out by a replica that starts with the signer down, until another replica learns of another recovery phrase', async () => {
    const late = await another();
    expect(await late.order()).toMatchObject({ status: 201 });
    expect(await late.step()).toBe(0);
    named = [firstOf(OTHER_WORDS)];
    await expect(compare()).rejects.toThrow(mismatch);
    named = [];
    await expect(late.step()).rejects.toThrow(mismatch);
    expect(await late.order()).toMatchObject({ status: 503 });
    named = [firstOf(WORDS)];
    expect(await compare()).toBe(0);
    named = [];
    expect(await late.step()).toBe(0);
    expect(await late.order()).toMatchObject({ status: 201 });
  });

  it('are given out by the first ready replica although the signer was never asked before', async () => {
    await fixture.rows('delete from key_comparisons');
    const late = await another([firstOf(WORDS)]);
    expect(await late.order()).toMatchObject({ status: 201 });
  });

  it('follow the last answer of the signer although the clock of the replica that stored it is behind', async () => {
    const HOUR = 60 * MINUTE;
    named = [firstOf(WORDS)];
    await compare(24 * 365 * HOUR);
    const behind = await another();
    fixture.pass(-2 * 24 * 365 * HOUR);
    named = [firstOf(OTHER_WORDS)];
    await expect(behind.step()).rejects.toThrow(mismatch);
    const late = await another();
    expect(await late.order()).toMatchObject({ status: 503 });
    fixture.pass(3 * 24 * 365 * HOUR);
    named = [firstOf(WORDS)];
    await behind.step();
  });

  it('are checked by a worker repeatedly', async () => {
    named = [firstOf(OTHER_WORDS)];
    fixture.pass(MINUTE);
    const workers = startWorkers(fixture.ports);
    try {
      await eventually(async () => expect(await order()).toMatchObject({ status: 503 }));
      named = [firstOf(WORDS)];
      await eventually(async () => expect(await order()).toMatchObject({ status: 201 }));
    } finally {
      await workers.stop();
    }
  });
});
