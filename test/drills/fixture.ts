import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { openWallet } from '@quittance/chains/evm/wallet';
import { services } from '@quittance/shared/events';
import { newDepositId } from '@quittance/shared/ids';
import { aSettledDeposit } from '@quittance/testkit/builders';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { sized } from '../chain-scenarios/size.ts';
import { type Hostile, hostile } from './hostile.ts';
import { type Drill, drillsTable } from './table.ts';

export type Asset = 'ETH' | 'USDC_ERC20';

const CONFIRMATIONS = 2;
const DOLLARS = { ETH: 5_000, USDC_ERC20: 600 } as const;
/** At full size the auditor looks as often as on a new installation. */
const AUDITOR_MS = sized(3_000, 60_000);
const HALT_WITHIN_MS = sized(60_000, 180_000);
const isFull = process.env['PROOFS'] === 'full';
/** Of ETH, in SIGNER_LIMITS. */
export const PER_ACCOUNT_24H = '2';
export const FEES_PER_24H = '0.05';
/** So many drills are of a merchant with ether. */
const VICTIMS = 5;
/** How long a step of money waits for the chain. */
const STEP_MS = 60_000;

/** For one suite: a stack with a chain whose blocks come by themselves, what the thief has on it, and the table that is printed at the end. */
export function openDrills() {
  const at = {} as {
    quittance: Quittance;
    /** An account of the thief: anybody may be a merchant. */
    accomplice: Merchant;
  };
  const drills: Drill[] = [];
  const opened: Hostile[] = [];

  const as = async (service: Parameters<typeof hostile>[1]): Promise<Hostile> => {
    const one = await hostile(at.quittance, service);
    opened.push(one);
    return one;
  };

  beforeAll(async () => {
    at.quittance = await startQuittance({
      auditor: true,
      chains: [],
      confirmations: CONFIRMATIONS,
      fixedFees: true,
      blockEverySeconds: 1,
      // In the end they do not balance: that is what the drills do.
      checkBooks: false,
      together: services,
      settings: {
        // As in docker-compose.yml, with limits.
        signer: {
          RECONCILED_WITHIN_SECONDS: '600',
          SIGNER_LIMITS: JSON.stringify({
            ETH: { per_account_24h: PER_ACCOUNT_24H, fees_per_24h: FEES_PER_24H },
          }),
        },
        auditor: {
          CHECK_EVERY_MS: String(AUDITOR_MS),
          CHAINS_EVERY_MS: String(AUDITOR_MS),
          ...(isFull ? {} : { GRACE_PERIOD_SECONDS: '5' }),
        },
      },
    });
    at.accomplice = await at.quittance.merchant('accomplice');
  }, STACK_STARTED_WITHIN_MS);
  afterAll(async () => {
    process.stdout.write(`${drillsTable(drills)}\n`);
    await Promise.all(opened.map((one) => one.close()));
    await at.quittance?.stop();
  });

  /** Whose customers have paid before the first drill, so that the auditor has seen it: nothing is signed of what it has not. */
  const paid: Merchant[] = [];
  beforeAll(async () => {
    paid.push(...(await Promise.all(Array.from({ length: VICTIMS }, () => newMerchantWith('ETH')))));
  }, STEP_MS);

  /** A merchant whose customer has paid, in ether long ago. */
  async function merchantWith(asset: Asset): Promise<Merchant> {
    return (asset === 'ETH' ? paid.pop() : undefined) ?? (await newMerchantWith(asset));
  }

  async function newMerchantWith(asset: Asset): Promise<Merchant> {
    const shop = await at.quittance.merchant();
    const { body } = await shop.post('/api/invoices', { asset, amount: DOLLARS[asset] });
    await at.quittance.ethereum.pay(asset, body.data.address.address, body.data.amount);
    await eventually(
      async () => expect((await shop.get(`/api/invoices/${body.data.id}`)).body.status).toBe('paid'),
      STEP_MS,
      200,
    );
    return shop;
  }

  async function balanceOf({ id }: Merchant, asset: Asset): Promise<bigint> {
    const sql = 'select available::text from ledger.balances where account_id = $1 and asset = $2';
    const row = await at.quittance.db.maybe<{ available: string }>(sql, [id, asset]);
    return BigInt(row?.available ?? '0');
  }

  /** All that the wallet has of an asset: the hot wallet, and the addresses of deposits. */
  async function walletsHave(asset: Asset): Promise<bigint> {
    const given = await at.quittance.db.rows<{ address: string }>(
      `select address from invoices.addresses where chain = 'ethereum'`,
    );
    const { hotAddress } = openWallet(at.quittance.stack.secrets.walletSeed);
    const addresses = [hotAddress, ...given.map(({ address }) => address)];
    const held = await Promise.all(addresses.map((address) => at.quittance.ethereum.balance(asset, address)));
    return held.reduce((total, one) => total + one, 0n);
  }

  const taken = (asset: Asset, address: string) => at.quittance.ethereum.balance(asset, address);

  async function untilTaken(asset: Asset, address: string, moreThan = 0n): Promise<bigint> {
    return await eventually(
      async () => {
        const amount = await taken(asset, address);
        expect(amount).toBeGreaterThan(moreThan);
        return amount;
      },
      STEP_MS,
      200,
    );
  }

  async function untilEnded(shop: Merchant, payout: number): Promise<string> {
    return await eventually(
      async () => {
        const { status } = (await shop.get(`/api/payouts/${payout}`)).body;
        expect(status).toMatch(/^(?:mined|failed)$/);
        return String(status);
      },
      // What was paid in a moment ago waits for the auditor's next check.
      AUDITOR_MS + STEP_MS,
      200,
    );
  }

  async function untilHalted(asset: Asset, began: number): Promise<number> {
    await eventually(
      async () =>
        expect(
          await at.quittance.db.rows(
            'select asset from payouts.halted_assets where asset = $1 and resumed_at is null',
            [asset],
          ),
        ).toHaveLength(1),
      HALT_WITHIN_MS,
      200,
    );
    return performance.now() - began;
  }

  function note(drill: Drill): void {
    drills.push(drill);
    expect(drill.lost).toBeLessThanOrEqual(drill.bound);
  }

  const invented = (amount: string, asset: Asset = 'ETH') =>
    aSettledDeposit({
      deposit_id: newDepositId(new Date()),
      account_id: at.accomplice.id,
      asset,
      amount,
      address: thiefsAddress(),
      outpoint: `0x${randomBytes(32).toString('hex')}:0`,
    });

  return Object.assign(at, {
    as,
    merchantWith,
    newMerchant: newMerchantWith,
    balanceOf,
    walletsHave,
    taken,
    untilTaken,
    untilEnded,
    untilHalted,
    note,
    invented,
  });
}

export const thiefsAddress = (): string => `0x${randomBytes(20).toString('hex')}`;
