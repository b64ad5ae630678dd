import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import { parseEther } from 'viem';
import { sized } from '../chain-scenarios/size.ts';
import { FEES_PER_24H, openDrills, PER_ACCOUNT_24H, thiefsAddress } from './fixture.ts';
import { forge, type Hostile, writes } from './hostile.ts';
import { burnsAsFees, triesToHaveSigned, triesToHold } from './hostile-payouts.ts';
import { movesAll } from './hostile-signer.ts';
import { drillOfRestoredLedger } from './restored-ledger.ts';

/**
 * Each service in turn is replaced by somebody who has its secrets: its environment, its role in Postgres, its user in NATS. What
 * they can take is measured on the chain, and is at most what SECURITY.md says.
 */

const at = openDrills();
const {
  as,
  merchantWith,
  balanceOf,
  walletsHave,
  taken,
  untilTaken,
  untilEnded,
  untilHalted,
  note,
  invented,
} = at;

/** The claim of SECURITY.md, with the settings of a new installation. */
const HALTED_WITHIN_MS = 75_000;
const LIMIT_MS = patient(sized(150_000, 400_000));

// The first: the others leave discrepancies behind.
drillOfRestoredLedger(at, LIMIT_MS);

/** What no service but the gateway and payouts can do, tried with all that it has. @returns what has reached the thief. */
async function steals(from: Hostile, victim: Merchant, others: readonly string[]): Promise<bigint> {
  const to = thiefsAddress();
  const body = { asset: 'ETH', amount: 1.5, address: to };
  const request = { account: victim.id, body };
  // A key of its own, and an assertion that it received itself.
  expect((await forge(at.quittance, request)).status).toBe(401);
  const { gatewayPrivateKey: privateKey } = at.quittance.stack.secrets;
  expect((await forge(at.quittance, { ...request, privateKey, receiver: 'webhooks' })).status).toBe(401);
  // Its role.
  for (const sql of others) await expect(from.db.rows(sql)).rejects.toThrow(/permission denied/);
  // Its user in NATS.
  const hold = {
    payout_id: '1',
    account_id: at.accomplice.id,
    asset: 'ETH',
    amount: '1',
    network_fee: '0',
  } as const;
  expect(await from.bus().ask('hold.place', { ...hold, deposit_id: null })).toMatchObject({ known: false });
  expect(await from.publish('deposit.settled', invented('1'))).toBe(false);
  return await taken('ETH', to);
}

test(
  'webhooks: what it knows pays out nothing of another merchant',
  async () => {
    const victim = await merchantWith('ETH');
    const before = await balanceOf(victim, 'ETH');
    const lost = await steals(await as('webhooks'), victim, writes);
    expect(await balanceOf(victim, 'ETH')).toBe(before);
    note({
      service: 'webhooks',
      tried: 'pay out 1.5 ETH of a merchant by its environment, role and NATS user',
      asset: 'ETH',
      lost,
      bound: 0n,
      limit: 'it has no key of the gateway, and no right to tables and events of money',
    });
  },
  LIMIT_MS,
);

test(
  'auditor: it halts payouts and resumes them, and pays out nothing',
  async () => {
    const victim = await merchantWith('ETH');
    const auditor = await as('auditor');
    const lost = await steals(auditor, victim, [writes[0] ?? '', writes[2] ?? '']);
    const order = { asset: 'ETH', amount: 0.001, address: thiefsAddress() } as const;
    const statusBecomes = (status: number) =>
      eventually(async () => expect((await victim.post('/api/payouts', order)).status).toBe(status));
    const haltAndResume = async () => {
      const { seq: halt } = await auditor.db.one<{ seq: string }>(
        `insert into halts (asset, discrepancies) values ('ETH', '[]') returning seq::text`,
      );
      expect(await auditor.publish('asset.halted', { asset: 'ETH', halt, breaches: [] })).toBe(true);
      await statusBecomes(503);
      await auditor.db.rows('update halts set resumed_at = now() where seq = $1', [halt]);
      expect(await auditor.publish('asset.resumed', { asset: 'ETH', halt })).toBe(true);
      await statusBecomes(201);
    };
    await haltAndResume();
    // Also in advance: a halt counts for nothing when its number is lower than that of a resumption.
    const resumption = { asset: 'BTC', halt: '999999999999999999' } as const;
    expect(await auditor.publish('asset.resumed', resumption)).toBe(true);
    expect(await auditor.publish('asset.halted', { asset: 'BTC', halt: '5', breaches: [] })).toBe(true);
    // Events are read in order: after these, that one has been.
    await haltAndResume();
    const ofBitcoin = `select halt::text, resumed_at is null as halted from payouts.halted_assets where asset = 'BTC'`;
    expect(await at.quittance.db.rows(ofBitcoin)).toEqual([{ halt: resumption.halt, halted: false }]);
    note({
      service: 'auditor',
      tried: 'pay out of a merchant; halt payouts, and resume them, also in advance',
      asset: 'ETH',
      lost,
      bound: 0n,
      limit: 'it may only read, and say halted or resumed',
    });
  },
  LIMIT_MS,
);

test(
  'gateway: it pays out the balance of a merchant, and of one with a policy what that allows in 24 hours',
  async () => {
    const [victim, limited] = await Promise.all([merchantWith('ETH'), merchantWith('ETH')]);
    const policy = { delay_hours: 24, limits: [{ asset: 'ETH', per_24h: '0.5' }] };
    expect((await limited.put('/api/payout-policy', policy)).status).toBe(200);
    const gateway = await as('gateway');
    const privateKey = gateway.env['GATEWAY_PRIVATE_KEY'] ?? '';
    const [to, toLimited] = [thiefsAddress(), thiefsAddress()];
    const bound = await balanceOf(victim, 'ETH');
    const pay = (account: string, amount: number | 'max', address: string) =>
      forge(at.quittance, { account, body: { asset: 'ETH', amount, address }, privateKey });
    expect(await pay(victim.id, 'max', to)).toMatchObject({ status: 201 });

    // To allow more waits for the delay, also when the gateway says so.
    const nothing = { delay_hours: 0, limits: [] };
    await forge(at.quittance, {
      ...{ account: limited.id, method: 'PUT', path: '/api/payout-policy' },
      ...{ body: nothing, privateKey },
    });
    // What the policy refuses is stored first, and ends as failed.
    const ends: string[] = [];
    for (const amount of [0.6, 0.45, 0.1]) {
      const { status, body } = await pay(limited.id, amount, toLimited);
      expect(status).toBe(201);
      ends.push(await untilEnded(limited, body.data?.id ?? 0));
    }
    expect(ends).toEqual(['failed', 'mined', 'failed']);
    const lost = await untilTaken('ETH', to);
    const lostOfLimited = await taken('ETH', toLimited);
    note({
      service: 'gateway',
      tried: 'pay out all of a merchant by its key',
      asset: 'ETH',
      lost,
      bound,
      limit: 'the balance of each merchant; nothing finds it',
    });
    note({
      service: 'gateway',
      tried: 'the same, of a merchant whose policy allows 0.5 ETH in 24 hours',
      asset: 'ETH',
      lost: lostOfLimited,
      bound: parseEther('0.5'),
      limit: 'the policy of the merchant, which a change loosens after its delay',
    });
    // Its role cannot read what others have.
    await expect(gateway.db.rows('select * from payouts.payouts')).rejects.toThrow(/permission denied/);
  },
  LIMIT_MS,
);

test(
  'payouts: nothing is signed but what the ledger holds, and no more is burnt as fees than their limit',
  async () => {
    const payouts = await as('payouts');
    expect(Object.keys(payouts.env).filter((name) => name.startsWith('WALLET_'))).toEqual([]);
    const victim = await merchantWith('ETH');
    await triesToHold(payouts, victim.id);
    const { status } = await forge(at.quittance, { account: victim.id, body: { asset: 'ETH', amount: 1 } });
    expect(status).toBe(401);
    const to = thiefsAddress();
    const order = { asset: 'ETH', amount: 0.1, address: thiefsAddress() };
    const { id } = (await victim.post('/api/payouts', order)).body.data;
    expect(await untilEnded(victim, id)).toBe('mined');
    await triesToHaveSigned(at.quittance, payouts, { to, paid: String(id) });
    note({
      service: 'payouts',
      tried: 'have signed what no merchant has asked for, by its NATS user',
      asset: 'ETH',
      lost: await taken('ETH', to),
      bound: 0n,
      limit: 'the signer, which asks the ledger itself',
    });
    const burnt = await burnsAsFees(at.quittance, payouts);
    note({
      service: 'payouts',
      tried: 'burn the wallet as network fees of a sweep',
      asset: 'ETH',
      lost: burnt,
      bound: parseEther(FEES_PER_24H),
      limit: `fees_per_24h of SIGNER_LIMITS, here ${FEES_PER_24H} ETH`,
    });
  },
  LIMIT_MS,
);

/** Raises a balance by one statement, and pays as much of it as is signed. */
async function raisedBalance(): Promise<void> {
  const ledger = await as('ledger');
  const bound = parseEther(PER_ACCOUNT_24H);
  const to = thiefsAddress();
  const began = performance.now();
  await ledger.db.rows(
    `insert into balances (account_id, asset, available) values ($1, 'ETH', $2)
     on conflict (account_id, asset) do update set available = balances.available + excluded.available`,
    [at.accomplice.id, String(10n * bound)],
  );
  for (let i = 0; i < 5; i++) {
    const asked = await at.accomplice.post('/api/payouts', { asset: 'ETH', amount: 0.9, address: to });
    expect(asked).toMatchObject({ status: 201 });
  }
  const haltedAfterMs = await untilHalted('ETH', began);
  const again = await at.accomplice.post('/api/payouts', { asset: 'ETH', amount: 0.1, address: to });
  expect(again.status).toBe(503);
  note({
    service: 'ledger',
    tried: 'raise a balance by its role, and pay it out with a token of its own',
    asset: 'ETH',
    lost: await taken('ETH', to),
    bound,
    limit: `per_account_24h of SIGNER_LIMITS, here ${PER_ACCOUNT_24H} ETH; the halt, if it comes before`,
    haltedAfterMs,
  });
  expect(haltedAfterMs).toBeLessThan(patient(HALTED_WITHIN_MS));
  // Its user in NATS may not speak for a chain.
  expect(await ledger.publish('deposit.settled', invented('1'))).toBe(false);
  expect((await forge(at.quittance, { account: at.accomplice.id, body: {} })).status).toBe(401);
}

/** Publishes a deposit that no chain has, and asks for a payout of it. */
async function inventedDeposit(): Promise<void> {
  await merchantWith('USDC_ERC20');
  const invoices = await as('invoices');
  const to = thiefsAddress();
  const began = performance.now();
  expect(await invoices.publish('deposit.settled', invented('500000000', 'USDC_ERC20'))).toBe(true);
  const order = { asset: 'USDC_ERC20', amount: 495, address: to };
  await eventually(async () => expect((await at.accomplice.post('/api/payouts', order)).status).toBe(201));
  const haltedAfterMs = await untilHalted('USDC_ERC20', began);
  const refusal = `select signing_refused_because as because from payouts.payouts where account_id = $1 and asset = 'USDC_ERC20'`;
  expect(await at.quittance.db.rows(refusal, [at.accomplice.id])).toContainEqual({
    because: 'the balance rests on deposits that were not reconciled yet',
  });
  expect((await at.accomplice.post('/api/payouts', { ...order, amount: 1 })).status).toBe(503);
  note({
    service: 'invoices',
    tried: 'invent a deposit by its NATS user, and pay it out with a token of its own',
    asset: 'USDC_ERC20',
    lost: await taken('USDC_ERC20', to),
    bound: 0n,
    limit: 'the payout waits for a check of the auditor, which halts the asset instead',
    haltedAfterMs,
  });
  expect((await forge(at.quittance, { account: at.accomplice.id, body: {} })).status).toBe(401);
  await expect(invoices.db.rows(writes[0] ?? '')).rejects.toThrow(/permission denied/);
}

test(
  'ledger and invoices: a raised balance is paid out within the limits, an invented deposit is not, and each asset is halted',
  async () => {
    await Promise.all([raisedBalance(), inventedDeposit()]);
  },
  LIMIT_MS,
);

test(
  'signer: its recovery phrase moves all that the wallets have',
  async () => {
    const signer = await as('signer');
    expect(Object.keys(signer.env)).toContain('WALLET_SEED');
    const bound = await walletsHave('ETH');
    const to = thiefsAddress();
    await movesAll(at.quittance, signer, to);
    // What is left pays the fees.
    const lost = await untilTaken('ETH', to, (bound * 9n) / 10n);
    note({
      service: 'signer',
      tried: 'sign by the recovery phrase in its environment',
      asset: 'ETH',
      lost,
      bound,
      limit: 'what the wallets have: it has the keys',
    });
  },
  LIMIT_MS,
);
