import { WrongNetwork } from '@quittance/chains/chain';
import { connectRpc, type Rpc, RpcRefused } from '@quittance/chains/json-rpc';
import { connectReader } from '@quittance/chains/registry';
import type { ChainSettings } from '@quittance/chains/settings';
import type { Chain, ChainKind } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import { z } from 'zod';
import { bad, type Finding, ok, why, within } from './finding.ts';

const ANSWER_WITHIN_MS = 10_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
/** How old the latest block of a public network may be. Bitcoin's blocks come by chance; Solana's are final ones. */
const BLOCK_AGE_MAX_MS: Readonly<Record<Chain, number>> = {
  bitcoin: 180 * MINUTE_MS,
  ethereum: 3 * MINUTE_MS,
  solana: 3 * MINUTE_MS,
  base: MINUTE_MS,
  polygon: MINUTE_MS,
};
/** A block of Ethereum or Solana is not from the future. Bitcoin allows two hours. */
const AHEAD_MAX_MS: Readonly<Record<ChainKind, number>> = {
  bitcoin: 120 * MINUTE_MS,
  evm: 15 * SECOND_MS,
  solana: 30 * SECOND_MS,
};
/** Blocks by which one node of a chain may be behind another, or behind what invoices has applied. */
const BEHIND_MAX: Readonly<Record<ChainKind, number>> = { bitcoin: 2, evm: 10, solana: 150 };

type Node = { settings: ChainSettings; subject: string; height: number };

/** Each node by itself: its network, whether it is in sync, the age and the height of its latest block. */
export async function checkNodes(
  chains: readonly ChainSettings[],
  db: Db | undefined,
  clock: Clock,
): Promise<Finding[]> {
  const asked = await Promise.all(
    chains.flatMap((settings) => settings.rpcUrls.map((_, at) => checkNode(settings, at, clock))),
  );
  const nodes = asked.flatMap(({ node }) => (node === undefined ? [] : [node]));
  const applied = db === undefined ? new Map<string, number>() : await appliedHeights(db);
  return [...asked.flatMap(({ findings }) => findings), ...behind(nodes, applied)];
}

async function checkNode(
  settings: ChainSettings,
  at: number,
  clock: Clock,
): Promise<{ findings: Finding[]; node?: Node }> {
  const url = settings.rpcUrls[at];
  if (url === undefined) return { findings: [] };
  // By its host: the rest of the URL may be a key.
  const subject = `${settings.chain}, node ${at + 1} (${new URL(url.reveal()).host})`;
  const setting = `${settings.chain.toUpperCase()}_RPC_URL`;
  const reader = connectReader({ ...settings, rpcUrls: [url] });
  const rpc = connectRpc(url.reveal());
  try {
    await within(ANSWER_WITHIN_MS, reader.check());
    const syncing = await within(ANSWER_WITHIN_MS, whySyncing(settings.kind, rpc));
    const { height, time } = await within(ANSWER_WITHIN_MS, reader.head());
    const node = { settings, subject, height };
    if (syncing !== undefined) {
      const remedy = 'Wait until it has all blocks, or use another node.';
      return { node, findings: [bad('problem', 'node', subject, syncing, remedy)] };
    }
    return { node, findings: blockFinding(settings, subject, { height, time }, clock.now()) };
  } catch (error) {
    const finding =
      error instanceof WrongNetwork
        ? bad(
            'problem',
            'node',
            subject,
            `it is of another network: ${error.message}`,
            `Correct ${setting}, or the network that is configured. Nothing is paid or seen until then.`,
          )
        : bad('problem', 'node', subject, `no answer (${why(error)})`, `Start it, or correct ${setting}.`);
    return { findings: [finding] };
  } finally {
    await Promise.all([reader.close(), rpc.close()]);
  }
}

function blockFinding(
  { chain, kind, quietMs }: ChainSettings,
  subject: string,
  { height, time }: { height: number; time: Date },
  now: Date,
): Finding[] {
  const age = now.getTime() - time.getTime();
  const seconds = Math.round(Math.abs(age) / SECOND_MS);
  // Only development chains rest for as long as they like, or have a time of their own.
  if (quietMs !== undefined) return [ok('node', subject, `block ${height}, a development chain`)];
  if (-age > AHEAD_MAX_MS[kind]) {
    const found = `block ${height} is ${seconds} s ahead of this machine's clock`;
    return [
      bad('problem', 'clock', subject, found, 'Set the clock of this machine, and of the node, by NTP.'),
    ];
  }
  if (age > BLOCK_AGE_MAX_MS[chain]) {
    const found = `its latest block, ${height}, is ${seconds} s old`;
    return [
      bad(
        'problem',
        'node',
        subject,
        found,
        'It has no peers, or does not follow the chain: look at its log.',
      ),
    ];
  }
  return [ok('node', subject, `block ${height}, ${seconds} s old`)];
}

const bitcoinState = z.object({ initialblockdownload: z.boolean(), blocks: z.int(), headers: z.int() });
const evmState = z.union([
  z.literal(false),
  z.object({ currentBlock: z.string(), highestBlock: z.string() }).partial(),
]);

/** What a node says of its own progress; undefined when it has all blocks. */
export async function whySyncing(kind: ChainKind, rpc: Rpc): Promise<string | undefined> {
  switch (kind) {
    case 'bitcoin': {
      const { initialblockdownload, blocks, headers } = bitcoinState.parse(
        await rpc.call('getblockchaininfo', []),
      );
      // A regtest that has rested for a day says so too, and has all there is.
      return initialblockdownload && blocks < headers
        ? `it downloads blocks: ${blocks} of ${headers}`
        : undefined;
    }
    case 'evm': {
      const state = evmState.parse(await rpc.call('eth_syncing', []));
      if (state === false) return undefined;
      const [current, highest] = [state.currentBlock, state.highestBlock].map((hex) =>
        hex === undefined ? '?' : String(BigInt(hex)),
      );
      return `it downloads blocks: ${current} of ${highest}`;
    }
    case 'solana':
      try {
        await rpc.call('getHealth', []);
        return undefined;
      } catch (error) {
        if (error instanceof RpcRefused) return `it says that it is not healthy (${error.message})`;
        throw error;
      }
  }
}

async function appliedHeights(db: Db): Promise<Map<string, number>> {
  const cursors = await db.rows<{ chain: string; height: number }>(
    'select chain, height from invoices.cursors',
  );
  return new Map(cursors.map(({ chain, height }) => [chain, height]));
}

/** Nodes that are behind the others, or behind what was read already. */
function behind(nodes: readonly Node[], applied: ReadonlyMap<string, number>): Finding[] {
  return nodes.flatMap(({ settings: { chain, kind }, subject, height }) => {
    const highest = Math.max(
      ...nodes.filter(({ settings }) => settings.chain === chain).map((node) => node.height),
      applied.get(chain) ?? 0,
    );
    if (highest - height <= BEHIND_MAX[kind]) return [];
    const found = `it is ${highest - height} blocks behind what another node has, or what invoices has applied`;
    const remedy = 'When it does not catch up, look at its log and its peers, or replace it.';
    return [bad('warning', 'node', subject, found, remedy)];
  });
}
