import { expect } from '@jest/globals';
import { connectRpc, type Rpc } from '@quittance/chains/json-rpc';
import type { SolanaNetwork } from '@quittance/chains/solana/network';
import { createSolanaSender, type SolanaSender } from '@quittance/chains/solana/sender';
import { createSolanaSigner } from '@quittance/chains/solana/signer';
import { checkAddress, openWallet, type SolanaWallet } from '@quittance/chains/solana/wallet';
import { startSurfpool } from '@quittance/engines/surfpool';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { PayoutId } from '@quittance/shared/ids';
import { payOnSolana, prepareSolana, type SolanaNode } from '@quittance/stack/solana';
import type { TestDatabase } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { type ScriptedSigner, scriptedSigner } from '@quittance/testkit/scripted-signer';
import { solanaCustomer } from '@quittance/testkit/solana-customer';
import { runChainWorker } from '../src/operations/run-chain-worker.ts';
import type { PayoutChain, Ports } from '../src/ports.ts';
import { ChainWorkerFixture, chainWorkerSuite, TestClock } from './chain-worker-fixture.ts';
import { SEED } from './service-client.ts';

export const SOL = 10n ** 9n;
/** The rent of an account without data. */
export const RENT = 890_880n;
export const TOKEN_RENT = 2_039_280n;
/** Twenty times as fast as public networks: finalized within a second, expired within four. */
const SLOT_MS = 20;
const RESEND_AFTER_MS = 1_000;
const HAPPENS_WITHIN_MS = 40_000;

/** All tests of a suite share a chain, so no address is used by two of them. */
const keys = openWallet(SEED);
let used = 0;

/** A wallet of its own for one test. */
function newWallet(): SolanaWallet {
  used += 1_000;
  const first = used;
  return {
    hotAddress: keys.depositAddress(first),
    hotKeyPair: keys.depositKeyPair(first),
    depositAddress: (index) => keys.depositAddress(first + 1 + index),
    depositKeyPair: (index) => keys.depositKeyPair(first + 1 + index),
  };
}

/** A node with a test USD Coin. */
async function startNode() {
  const node = await startSurfpool({ port: 0, wsPort: 0, slotMs: SLOT_MS });
  const nobody = newWallet().hotAddress;
  const usdcMint = await prepareSolana(node.rpcUrl, { address: nobody, lamports: SOL, usdc: 0n });
  return { rpcUrl: node.rpcUrl, usdcMint, stop: () => node.stop() };
}
type StartedNode = Awaited<ReturnType<typeof startNode>>;

type FixturePorts = Ports & PayoutChain<'solana'>;
type Row = Record<string, unknown>;

/** The chain worker with its ports for one test: empty tables, a wallet of its own, and a real node. */
class SolanaFixture extends ChainWorkerFixture {
  readonly wallet: SolanaWallet = newWallet();
  readonly sender: SolanaSender;
  readonly signer: ScriptedSigner;
  readonly ports: FixturePorts;
  readonly rpc: Rpc;
  readonly usdcMint: string;
  readonly network: SolanaNetwork;
  readonly customer: ReturnType<typeof solanaCustomer>;
  readonly #node: SolanaNode;

  private constructor(database: TestDatabase, { rpcUrl, usdcMint }: StartedNode) {
    super(database, new TestClock({ runs: true }));
    this.#node = { rpc: rpcUrl, tokens: { USDC_SOL: usdcMint } };
    this.rpc = connectRpc(rpcUrl);
    this.usdcMint = usdcMint;
    this.network = { name: 'local', usdcMint };
    this.customer = solanaCustomer(this.#node);
    this.signer = scriptedSigner('solana', createSolanaSigner(this.network, this.wallet));
    this.sender = this.recorded(
      createSolanaSender({ rpc: this.rpc, network: this.network, wallet: this.wallet }),
    );
    this.ports = this.replica();
  }

  /** A fixture with this balance of the hot wallet. */
  static async fresh(database: TestDatabase, node: StartedNode, lamports = 10n * SOL, usdc = 0n) {
    const fixture = new SolanaFixture(database, node);
    await fixture.emptyTables();
    if (lamports > 0n) await fixture.fund('SOL', fixture.wallet.hotAddress, lamports);
    if (usdc > 0n) await fixture.fund('USDC_SOL', fixture.wallet.hotAddress, usdc);
    return fixture;
  }

  /** Gives an address a balance without a transaction, so that no test waits until one is final. */
  async fund(asset: 'SOL' | 'USDC_SOL', to: string, amount: bigint): Promise<void> {
    // eslint-disable-next-line no-restricted-syntax -- the node wants a JSON number
    const exact = Number(amount);
    if (asset === 'SOL') await this.rpc.call('surfnet_setAccount', [to, { lamports: exact }]);
    else await this.rpc.call('surfnet_setTokenAccount', [to, this.usdcMint, { amount: exact }]);
  }

  replica(given: Partial<FixturePorts> = {}): FixturePorts {
    return {
      ...this.replicaPorts(RESEND_AFTER_MS),
      kind: 'solana',
      chain: 'solana',
      assets: ['SOL', 'USDC_SOL'],
      checkAddress: (text) => checkAddress(this.network, text),
      explorerUrl: (txHash) => `https://scan.example/tx/${txHash}`,
      sender: this.sender,
      signer: this.signer,
      signingPause: { reason: undefined },
      ...given,
    };
  }

  /** From a customer's or an operator's wallet; returns when it is finalized. */
  async pay(asset: 'SOL' | 'USDC_SOL', to: string, amount: bigint): Promise<void> {
    const signature = await payOnSolana(this.#node, [{ asset, to, amount }]);
    await this.finalized(signature);
  }

  async finalized(signature: string): Promise<void> {
    await this.until(async () => expect((await this.sender.status(signature)).state).toBe('mined'));
  }

  async until(look: () => Promise<unknown>): Promise<void> {
    await eventually(look, HAPPENS_WITHIN_MS);
  }

  /** A payout whose hold the ledger has placed. */
  async reserve(asset: 'SOL' | 'USDC_SOL', amount: bigint, to = this.newRecipient()) {
    const id = await this.request({ asset, amount, address: to, networkFee: 5_000n, minConfirmations: 1 });
    return { id, to };
  }

  newRecipient = (): string => newWallet().hotAddress;

  #index = 0;
  /** A settled deposit, on the chain and recorded. @returns its address. */
  async deposit(asset: 'SOL' | 'USDC_SOL', amount: bigint): Promise<string> {
    this.#index += 1;
    const address = this.wallet.depositAddress(this.#index);
    await this.fund(asset, address, amount);
    const outpoint = `${address}:1`;
    await this.settled(this.depositOf({ asset, amount, address, index: this.#index, outpoint }));
    return address;
  }

  run(ports = this.ports): Promise<number> {
    return runChainWorker<'solana'>(ports, ports);
  }

  /** An owner whose token account is frozen by `close`, so that it can be paid only before. */
  async recipientThatCloses() {
    const address = this.newRecipient();
    await this.fund('USDC_SOL', address, 1n);
    const frozen = { amount: 0, state: 'frozen' };
    const close = () => this.rpc.call('surfnet_setTokenAccount', [address, this.usdcMint, frozen]);
    return { address, close };
  }

  /** Waits until the newest attempt has expired and its proof is asked for. */
  async expires(): Promise<void> {
    const last = (await this.transactions()).at(-1) as Record<
      'valid_to_height' | 'tx_hash' | 'final_height_when_signed',
      string
    >;
    // eslint-disable-next-line no-restricted-syntax -- heights
    const [validTo, from] = [Number(last.valid_to_height), Number(last.final_height_when_signed)];
    await this.until(async () =>
      expect(await this.sender.nonInclusion(last.tx_hash, validTo, from)).toBe('proven'),
    );
    this.clock.advance(31_000);
  }

  /** Runs rounds until the payout has ended. */
  async ends(id: PayoutId, status: 'mined' | 'failed', ports = this.ports): Promise<Row> {
    await this.until(async () => {
      await this.run(ports);
      expect((await this.payout(id))['status']).toBe(status);
    });
    return this.payout(id);
  }

  transactions(): Promise<Row[]> {
    return this.db.rows('select * from transactions order by id');
  }

  /** What must be true after every test. */
  async expectSound(): Promise<void> {
    const payouts = await this.db.rows<{
      status: string;
      address: string;
      asset: AssetSymbol;
      amount: string;
    }>('select * from payouts');
    for (const [address, to] of Map.groupBy(payouts, (one) => one.address)) {
      for (const [asset, of] of Map.groupBy(to, (one) => one.asset)) {
        const due = of
          .filter(({ status }) => status === 'mined')
          .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
        const got = await this.customer.balance(asset, address);
        expect({ address, asset, got }).toEqual({ address, asset, got: due });
      }
    }
    // Everything that the node has got was stored first, and no group has two open attempts.
    const transactions = await this.transactions();
    const stored = new Set(transactions.map(({ raw }) => raw));
    for (const raw of this.sent) expect(stored).toContain(raw);
    const open = transactions.filter(({ state }) => state === 'signed' || state === 'broadcast');
    expect(new Set(open.map(({ replacement_group }) => replacement_group)).size).toBe(open.length);
    // The published costs are those of the mined transactions.
    const mined = transactions.filter(({ state }) => state === 'mined' || state === 'reverted');
    expect((await this.spent()).map(({ tx_hash }) => tx_hash).sort()).toEqual(
      mined.map(({ tx_hash }) => tx_hash).sort(),
    );
  }

  override async close(): Promise<void> {
    await this.rpc.close();
    await super.close();
  }
}

/** The fixture of a suite, and what makes that of one test, with a balance of the hot wallet. */
export const solanaSuite = () => chainWorkerSuite(startNode, SolanaFixture.fresh);
