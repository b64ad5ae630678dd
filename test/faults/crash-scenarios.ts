import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet } from '@quittance/chains/evm/wallet';
import { connectRpc } from '@quittance/chains/json-rpc';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { formatUnits, parseUnits, type Units, units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import { createWalletClient, type Hex, http } from 'viem';
import { anvil } from 'viem/chains';
import { payWithManyCoins } from './crash-coins.ts';
import type { CrashStage } from './crash-stage.ts';

/** Throws while something of a story has not come to its end. */
export type Ended = () => Promise<void>;

/** What runs across a crash: begun at once, and gone through with whoever dies. `died` is when those who were to die have. */
export type Story = (stage: CrashStage, died: Promise<void>) => Promise<Ended>;

/** So long only because others die meanwhile, on a machine that may be busy with other suites. */
const STEP_MS = 90_000;
const CLI = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

/** What a payout pays, and an invoice that covers next to nothing of it: too little to be swept for its own sake. */
const usual = {
  BTC: { payout: '0.001', dollars: 6 },
  ETH: { payout: '0.01', dollars: 6 },
  SOL: { payout: '0.05', dollars: 6 },
  USDC_ERC20: { payout: '1', dollars: 6 },
  USDC_SOL: { payout: '1', dollars: 6 },
} as const;
export type CrashAsset = keyof typeof usual;

type Invoice = { id: string; amount: string; address: { address: string } };

const unitsOf = (asset: AssetSymbol, text: string): Units => {
  const parsed = parseUnits(text, assets[asset].decimals);
  if (!parsed.ok) throw new Error(`${text} is no amount of ${asset}`);
  return parsed.value;
};

async function invoiceOf(stage: CrashStage, asset: CrashAsset, dollars: number): Promise<Invoice> {
  const { status, body } = await stage.insist('/api/invoices', { asset, amount: dollars });
  expect(status).toBe(201);
  return body.data;
}

async function expectInvoice(stage: CrashStage, id: string, wanted: object): Promise<void> {
  expect((await stage.shop.get(`/api/invoices/${id}`)).body).toMatchObject(wanted);
}

const expectTold = ({ told }: CrashStage, event: string, id: string | number): void =>
  expect(told()).toContainEqual({ event, id });

/** A payment of an invoice. */
async function pay(stage: CrashStage, asset: CrashAsset, dollars: number): Promise<Ended> {
  const { id, amount, address } = await invoiceOf(stage, asset, dollars);
  await stage.customerOf(asset).pay(asset, address.address, amount);
  return async () => {
    await expectInvoice(stage, id, { status: 'paid' });
    expectTold(stage, 'invoice.paid', id);
  };
}

type Order = { asset: CrashAsset; amount: string; to?: string };

/** A payout that ends mined. Its recipient had nothing before: who has exactly the amount was paid exactly once. */
async function payOut(stage: CrashStage, { asset, amount, to }: Order): Promise<Ended> {
  const address = to ?? (await stage.customerOf(asset).newAddress());
  const { status, body } = await stage.insist('/api/payouts', { asset, amount, address });
  expect([status, body.message]).toEqual([201, expect.any(String)]);
  return async () => {
    const { id } = body.data;
    expect((await stage.shop.get(`/api/payouts/${id}`)).body).toMatchObject({ status: 'mined' });
    expectTold(stage, 'payout.completed', id);
    expect(await stage.customerOf(asset).balance(asset, address)).toBe(unitsOf(asset, amount));
  };
}

const both =
  (...all: readonly Ended[]): Ended =>
  async () => {
    for (const ended of all) await ended();
  };

/** What every crash has to let through: a payment and a payout. */
export const sale =
  (asset: CrashAsset): Story =>
  async (stage) =>
    both(
      ...(await Promise.all([
        pay(stage, asset, usual[asset].dollars),
        payOut(stage, { asset, amount: usual[asset].payout }),
      ])),
    );

/** Money for the payouts to come. */
export async function fund(stage: CrashStage, asset: CrashAsset, dollars: number): Promise<void> {
  const ended = await pay(stage, asset, dollars);
  await eventually(ended, STEP_MS);
}

/** A payment so large that it is swept at once for its own sake. */
export const largeSale =
  (asset: CrashAsset, dollars: number): Story =>
  (stage) =>
    pay(stage, asset, dollars);

/** More than there is: refused, and never paid. */
export const tooMuch =
  (asset: CrashAsset): Story =>
  async (stage) => {
    const to = await stage.customerOf(asset).newAddress();
    const { status, body } = await stage.insist('/api/payouts', { asset, amount: '900000', address: to });
    expect([status, body.message]).toEqual([400, 'Insufficient balance']);
    return async () => expect(await stage.customerOf(asset).balance(asset, to)).toBe(0n);
  };

/** The ledger is silent: answered with 503, and never paid. */
export const unanswered =
  (asset: CrashAsset): Story =>
  async (stage, died) => {
    const ledger = stage.processOf('ledger');
    const to = await stage.customerOf(asset).newAddress();
    const order = { asset, amount: usual[asset].payout, address: to };
    ledger.pause();
    try {
      const answer = await stage.shop.post('/api/payouts', order).catch(() => undefined);
      expect(answer?.status ?? 503).toBeGreaterThanOrEqual(500);
      await died;
    } finally {
      ledger.resume();
    }
    return async () => {
      expect(await undecided(stage)).toEqual([]);
      expect(await stage.customerOf(asset).balance(asset, to)).toBe(0n);
    };
  };

const undecided = ({ quittance }: CrashStage) =>
  quittance.db.rows(`select id from payouts.payouts where status = 'requested'`);

/** A contract that takes no Ether: the node says so before anything is signed. */
export const refusedByRecipient: Story = async (stage) => {
  const to = stage.quittance.stack.nodes.ethereum.tokens.USDC_ERC20;
  const { body } = await stage.insist('/api/payouts', { asset: 'ETH', amount: '0.01', address: to });
  return async () => {
    const { id } = body.data;
    expect((await stage.shop.get(`/api/payouts/${id}`)).body).toMatchObject({ status: 'failed' });
    expect(await stage.customerOf('ETH').balance('ETH', to)).toBe(0n);
  };
};

/** What a payout has signed, the newest attempt first. */
async function attemptsOf({ quittance }: CrashStage, payout: number) {
  return await quittance.db.rows<{ id: string; state: string; nonce: string; height: string | null }>(
    `select t.id, t.state, t.nonce, t.valid_to_height as height from payouts.transactions t
     join payouts.payments p using (family) where p.payout_id = $1 order by t.attempt desc`,
    [payout],
  );
}

/** The recipient becomes a contract that takes no Ether when the transaction is on its way. */
export const reverted: Story = async (stage) => {
  const { quittance } = stage;
  return await stage.withoutBlocks(async () => {
    const to = await stage.customerOf('ETH').newAddress();
    const { body } = await stage.insist('/api/payouts', { asset: 'ETH', amount: '0.01', address: to });
    const { id } = body.data;
    await eventually(async () => expect(await attemptsOf(stage, id)).toMatchObject([{ state: 'broadcast' }]));
    const node = connectRpc(quittance.stack.nodes.ethereum.rpc);
    await node.call('anvil_setCode', [to, '0x60006000fd']);
    await node.close();
    return async () => {
      expect((await stage.shop.get(`/api/payouts/${id}`)).body).toMatchObject({ status: 'failed' });
      expect(await stage.customerOf('ETH').balance('ETH', to)).toBe(0n);
    };
  });
};

/** No block comes for so long that the fee is raised; blocks come again when the service has died of it. */
export const stuck =
  (asset: CrashAsset): Story =>
  (stage, died) =>
    stage.withoutBlocks(async () => {
      const ended = await payOut(stage, { asset, amount: usual[asset].payout });
      const sentLongAgo = `update payouts.transactions set first_broadcast_at = now() - interval '1 hour'
        where state = 'broadcast' and purpose = 'payout' returning id`;
      await eventually(async () => expect(await stage.quittance.db.rows(sentLongAgo)).not.toHaveLength(0));
      await died;
      return ended;
    });

/** A payment that no block has taken when the service dies of having seen it. */
export const unmined =
  (asset: CrashAsset): Story =>
  (stage, died) =>
    stage.withoutBlocks(async () => {
      const ended = await sale(asset)(stage, died);
      await died;
      return ended;
    });

/** An invoice whose time is over. */
export const unpaid: Story = async (stage) => {
  const { id } = await invoiceOf(stage, 'ETH', 6);
  await stage.quittance.db.rows('update invoices.invoices set expires_at = now() where id = $1', [id]);
  return async () => {
    await expectInvoice(stage, id, { status: 'expired' });
    expectTold(stage, 'invoice.expired', id);
  };
};

/** Nobody has looked at the chain for two minutes: invoices are given that time back. */
export const outage: Story = async ({ quittance }) => {
  await quittance.db.rows(`update invoices.cursors set caught_up_at = now() - interval '2 minutes'`);
  return async () => {};
};

/** Ether by way of a contract: no transaction names the address. */
export const paidByContract: Story = async (stage) => {
  const { id, amount, address } = await invoiceOf(stage, 'ETH', 6);
  await stage.quittance.ethereum.payByContract(address.address, amount);
  return async () => {
    await expectInvoice(stage, id, { status: 'paid' });
    expectTold(stage, 'invoice.paid', id);
  };
};

/** A payment whose block is dropped before it was final, and which is made again. */
export const reorganised: Story = async (stage) => {
  const { ethereum } = stage.quittance;
  return await stage.withoutBlocks(async () => {
    const { id, amount, address } = await invoiceOf(stage, 'ETH', 6);
    await ethereum.pay('ETH', address.address, amount);
    await ethereum.mine();
    await eventually(() => expectInvoice(stage, id, { status: 'confirmed' }), STEP_MS);
    await ethereum.dropBlocks(1);
    await ethereum.pay('ETH', address.address, amount);
    return async () => {
      await expectInvoice(stage, id, { status: 'paid', paid_amount: amount });
    };
  });
};

/** The last blocks are read once more on an operator's word; nothing had been missed. */
export const readAgain: Story = async (stage) => {
  const { db } = stage.quittance;
  const asked = `insert into invoices.rescans (chain, from_height, next_height, asked_at)
    select chain, greatest(0, height - 40), greatest(0, height - 40), now() from invoices.cursors
    where chain = 'ethereum' returning id`;
  const { id } = await db.one<{ id: string }>(asked, []);
  return async () => {
    const stands = 'select found, failure, ended_at is not null as ended from invoices.rescans where id = $1';
    expect(await db.one(stands, [id])).toEqual({ found: 0, failure: null, ended: true });
  };
};

/** A payment that was credited and is dropped from the chain for good. */
export const takenBack: Story = async (stage) => {
  const { ethereum, db } = stage.quittance;
  // Nothing else is in the blocks that are dropped.
  await ethereum.mine(10);
  return await stage.withoutBlocks(async () => {
    const { id, amount, address } = await invoiceOf(stage, 'ETH', 6);
    await ethereum.pay('ETH', address.address, amount);
    await ethereum.mine(4);
    await eventually(() => expectInvoice(stage, id, { status: 'paid' }), STEP_MS);
    await ethereum.dropBlocks(4);
    return async () => {
      const reversals = `select r.deposit_id from ledger.reversals r join invoices.deposits d on d.id = r.deposit_id
        where d.invoice_id = $1 and r.booked_at is not null`;
      expect(await db.rows(reversals, [id])).toHaveLength(1);
    };
  });
};

/** Money that came when its invoice had expired, and that the merchant takes into the balance. */
export const late: Story = async (stage) => {
  const { id, amount, address } = await invoiceOf(stage, 'ETH', 6);
  await stage.quittance.db.rows('update invoices.invoices set expires_at = now() where id = $1', [id]);
  await eventually(() => expectInvoice(stage, id, { status: 'expired' }), STEP_MS);
  await stage.quittance.ethereum.pay('ETH', address.address, amount);
  const [item] = await eventually(async () => {
    const { body } = await stage.shop.get('/api/unresolved?status=open');
    expect(body.data).toHaveLength(1);
    return body.data as { id: string }[];
  }, STEP_MS);
  // 409: accepted before, by a request whose answer was lost.
  await eventually(async () => {
    const { status } = await stage.shop.post(`/api/unresolved/${item?.id}/accept`, {});
    expect([200, 409]).toContain(status);
  }, STEP_MS);
  return async () => {
    const { body } = await stage.shop.get('/api/unresolved?status=accepted');
    expect(body.data).toContainEqual(expect.objectContaining({ id: item?.id }));
  };
};

/** An operator sends bitcoins to the hot wallet. */
export const float: Story = async (stage) => {
  const { quittance } = stage;
  const { hotAddress } = openBitcoinWallet('regtest', quittance.stack.secrets.walletSeed);
  const coins = () => quittance.db.rows(`select outpoint from payouts.coins where branch = 'hot'`);
  const before = (await coins()).length;
  await quittance.bitcoin.pay('BTC', hotAddress, '0.5');
  return async () => expect(await coins()).toHaveLength(before + 1);
};

const COINS = 240;
const COIN = 50_000_000n;

/** A payout that needs more coins than one transaction takes: they become one coin first. */
export const manyCoins: Story = async (stage) => {
  const { quittance } = stage;
  const { id, address } = await invoiceOf(stage, 'BTC', 6);
  await payWithManyCoins(quittance, address.address, COINS, COIN);
  await eventually(() => expectInvoice(stage, id, { status: 'paid' }), STEP_MS);
  const available = () =>
    quittance.db.rows<{ amount: string }>(
      `select amount from payouts.coins where state = 'available' order by amount desc`,
    );
  const coins = await eventually(async () => {
    const all = await available();
    expect(all.length).toBeGreaterThanOrEqual(COINS);
    return all.map(({ amount }) => BigInt(amount));
  }, STEP_MS);
  // More than two hundred of the largest, which is what one transaction takes, and less than the merchant has.
  const most = coins.slice(0, 200).reduce((sum, amount) => sum + amount, 0n);
  // No block takes what was sent before it is noted as sent.
  return await stage.withoutBlocks(async () => {
    const ended = await payOut(stage, { asset: 'BTC', amount: formatUnits(units(most + 2n * COIN), 8) });
    const sent = `select 1 from payouts.transactions where purpose = 'sweep' and chain = 'bitcoin' and state = 'broadcast'`;
    await eventually(async () => expect(await quittance.db.rows(sent)).not.toEqual([]), STEP_MS);
    return ended;
  });
};

/**
 * A balance of one unit too much, as if somebody had changed it. Payouts of the asset halt until the balance is right again
 * and an operator lets them go on.
 */
export const miscounted =
  (asset: CrashAsset): Story =>
  async (stage, died) => {
    const { quittance, shop } = stage;
    const change = (by: number) =>
      quittance.db.rows(
        'update ledger.balances set available = available + $1 where account_id = $2 and asset = $3',
        [by, shop.id, asset],
      );
    await change(1);
    await died;
    await eventually(async () => {
      const halted = 'select asset from payouts.halted_assets where resumed_at is null';
      expect(await quittance.db.rows(halted)).toEqual([{ asset }]);
    }, STEP_MS);
    const address = await stage.customerOf(asset).newAddress();
    const refused = await shop.post('/api/payouts', { asset, amount: usual[asset].payout, address });
    expect(refused.status).toBe(503);
    await change(-1);
    await resumePayouts(stage, asset);
    const ended = await payOut(stage, { asset, amount: usual[asset].payout });
    return async () => {
      await ended();
      expect(await stage.customerOf(asset).balance(asset, address)).toBe(0n);
      expect(await quittance.db.rows('select 1 from auditor.halts where resumed_at is null')).toEqual([]);
    };
  };

/** What an operator does about a halt. Refused as long as the books are wrong. */
async function resumePayouts({ quittance: { stack } }: CrashStage, asset: AssetSymbol): Promise<void> {
  const env = { ...stack.chainSettings, DATABASE_URL_ADMIN: stack.adminUrl };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [CLI, 'payouts', 'resume', '--asset', asset],
    { env },
  );
  expect(stdout).toContain(`Payouts of ${asset} go on`);
}

/** While payouts is dead with a payout that was signed and not sent, somebody else uses the nonce. */
export async function takeNonce(stage: CrashStage): Promise<Ended> {
  const { quittance } = stage;
  const [payout] = await quittance.db.rows<{ id: string; nonce: string }>(
    `select p.payout_id as id, t.nonce from payouts.transactions t join payouts.payments p using (family)
     where t.state = 'signed' and t.purpose = 'payout' and t.chain = 'ethereum'`,
  );
  if (payout === undefined) throw new Error('nothing is signed');
  const { hotSigner } = openWallet(quittance.stack.secrets.walletSeed);
  const transport = http(quittance.stack.nodes.ethereum.rpc);
  const thief = createWalletClient({ account: hotSigner, chain: anvil, transport });
  // tidy-allow number: a nonce
  await thief.sendTransaction({ to: hotSigner.address as Hex, value: 1n, nonce: Number(payout.nonce) });
  await quittance.ethereum.mine(12);
  return async () => {
    expect((await stage.shop.get(`/api/payouts/${payout.id}`)).body).toMatchObject({ status: 'failed' });
  };
}

/** As if the doubt that comes before a proof were older than it is: waited for in seconds instead of half minutes. */
export const longDoubted: Story = async ({ quittance }, died) => {
  let isOver = false;
  void died.then(() => {
    isOver = true;
  });
  await eventually(async () => {
    await quittance.db.rows(
      `update payouts.transactions set doubted_at = doubted_at - interval '1 minute' where doubted_at > now() - interval '30 seconds'`,
    );
    expect(isOver).toBe(true);
  }, STEP_MS);
  return async () => {};
};

/** While payouts is dead, what it has signed on Solana and not sent becomes too old to be mined. */
export async function untilTooOld({ quittance }: CrashStage): Promise<void> {
  const rpc = connectRpc(quittance.stack.nodes.solana?.rpc ?? '');
  try {
    await eventually(
      async () => {
        const [signed] = await quittance.db.rows<{ height: string }>(
          `select max(valid_to_height) as height from payouts.transactions where state = 'signed' and chain = 'solana'`,
        );
        const height = await rpc.call('getBlockHeight', [{ commitment: 'finalized' }]);
        // tidy-allow number: a height
        expect(height).toBeGreaterThan(Number(signed?.height));
      },
      STEP_MS,
      200,
    );
  } finally {
    await rpc.close();
  }
  // As if it had lain there for as long as it takes before a proof is asked for.
  await quittance.db.rows(
    `update payouts.transactions set created_at = created_at - interval '31 seconds' where state = 'signed'`,
  );
}
