import { expect, test } from '@jest/globals';
import type { AssetSymbol, ChainKind } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { Secret } from '@quittance/shared/secret';
import { notTried } from '@quittance/testkit/not-tried';
import type { Block, ChainReader, ChainSender, Payment, SignedTransaction } from '../../src/chain.ts';
import { connectReader, connectSender, openSigner, type SignerOf } from '../../src/registry.ts';
import type { SettingsOf } from '../../src/settings.ts';
import { PHRASE } from '../bitcoin-chain.ts';

const BLOCKS_AT_ONCE = 50;

/** What a chain may be unable to do. */
export type Ability =
  /** The newest blocks are replaced by a longer chain. */
  | 'reorg'
  /** A transaction is in a block and has failed. */
  | 'fail'
  /** What is not in a block yet can be watched. */
  | 'pending'
  /** Native money comes without a trace, and balances tell. */
  | 'balances';

/** A chain as the contract handles it. */
export type Fixture = {
  /** The native asset first. */
  assets: readonly [AssetSymbol, ...AssetSymbol[]];
  /** The asset of which one transaction can pay several. */
  manyOf: AssetSymbol;
  reader: ChainReader;
  sender: ChainSender;
  /** Canonical; nobody has used it. */
  newAddress(): string;
  /** An amount that is awkward for anything that is not exact. */
  amount(asset: AssetSymbol): Units;
  /** A customer's transaction, sent and perhaps waiting. Returns its hash. */
  pay(payments: readonly { asset: AssetSymbol; address: string; amount: Units }[]): Promise<string>;
  /** A customer's transaction that will be in a block and fails, and would have paid `address`. */
  payInVain?(address: string): Promise<string>;
  /** What was sent is in a block that the reader has, and so many blocks less one are above it. */
  mine(blocks: number): Promise<void>;
  /** Replaces the newest blocks by one more. Their transactions are mined `again` there, or not (`away`). */
  reorg?(depth: number, fate: 'again' | 'away'): Promise<void>;
  /** A payment of native money from the hot wallet, as often as it is called, each time with newly opened keys. */
  order(to: string, amount: Units): Promise<() => Promise<SignedTransaction>>;
  /** Native money of the hot wallet, wherever it keeps it. */
  wealth(): Promise<bigint>;
  /** The same node, taken for one of another network. */
  elsewhere(): { reader: ChainReader; sender: ChainSender };
  /** A node that does not answer. */
  nobody(): { reader: ChainReader; sender: ChainSender };
  stop(): Promise<void>;
};

export type Candidate = {
  name: string;
  /** And why. */
  cannot: Partial<Record<Ability, string>>;
  open(): Promise<Fixture>;
};

/** A test of what this chain can do. What it cannot do is skipped. */
export function whereItCan(
  { cannot }: Candidate,
  ability: Ability,
  title: string,
  body: () => Promise<void>,
): void {
  const why = cannot[ability];
  if (why === undefined) test(title, body);
  else notTried(title, why);
}

/** All blocks above a height that the reader has, as a scanner reads them. */
export async function blocksSince(reader: ChainReader, height: number): Promise<Block[]> {
  const blocks: Block[] = [];
  for (;;) {
    const more = await reader.blocksAfter(blocks.at(-1)?.height ?? height, BLOCKS_AT_ONCE);
    if (more.length === 0) return blocks;
    blocks.push(...more);
  }
}

export const paidTo = (blocks: readonly Block[], address: string): Payment[] =>
  blocks.flatMap((block) => block.payments).filter((payment) => payment.address === address);

/** Each question, by its name, is answered with the error that the node is away. */
export async function expectUnavailable(questions: Record<string, () => unknown>): Promise<void> {
  for (const [name, ask] of Object.entries(questions)) {
    const outcome = await Promise.try(ask).then(
      () => 'an answer',
      (error: Error) => error.name,
    );
    expect([name, outcome]).toEqual([name, 'RpcUnavailable']);
  }
}

/**
 * Reader and sender of a node. The reader is connected to it thrice: a quorum promises what each of its nodes does. `other` are
 * settings of another network.
 */
export function connections<K extends ChainKind>(
  url: string,
  given: Omit<SettingsOf<K>, 'rpcUrls'>,
  other: Partial<SettingsOf<K>>,
) {
  const settingsOf = (urls: string[], more: object = {}) =>
    ({ ...given, rpcUrls: urls.map((one) => new Secret(one)), ...more }) as unknown as SettingsOf<K>;
  const signerOf = (more?: object) => openSigner<K>(settingsOf([url], more), PHRASE);
  const connect = (at: string, more?: object) => ({
    reader: connectReader<K>(settingsOf([at, at, at], more)),
    sender: connectSender<K>(settingsOf([at], more), signerOf(more).addresses),
  });
  const { reader, sender } = connect(url);
  return {
    reader,
    sender,
    elsewhere: () => connect(url, other),
    nobody: () => connect('http://127.0.0.1:1'),
    /** Signs with newly opened keys. */
    signAgain: <T>(sign: (fresh: SignerOf<K>) => Promise<T>): Promise<T> => sign(signerOf()),
    close: () => Promise.all([reader.close(), sender.close()]),
  };
}
