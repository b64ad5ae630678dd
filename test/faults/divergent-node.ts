import { request } from 'undici';
import { startRpcServer } from './rpc-server.ts';

/** What a node says to one question. */
export type Told = { result?: unknown; error?: { code: number; message: string } };
export type Ask = (method: string, params: readonly unknown[]) => Promise<Told>;

/** Where a node left the chain that the first one has: its newest block then, and the newest that was final. */
export type Left = { how: 'lag' | 'diverge'; at: number; final: number };

/** What is peculiar to the nodes of one kind of chain. */
export type DivergentProtocol = {
  /** The newest block, and the newest that is final. */
  heights(ask: Ask): Promise<{ at: number; final: number }>;
  /** The answer of a node that left the chain; `differs` is called where it is not that of the first. */
  tell(left: Left, method: string, params: readonly unknown[], ask: Ask, differs: () => void): Promise<Told>;
  /** By which transactions are sent, and what they are called. */
  sends: string;
  nameOf(raw: string, ask: Ask): Promise<string>;
  /** What the node says of a transaction that it does not take. */
  refusal: { code: number; message: string };
  /** What it says of one that it has not, where this asks for one that is in no block. */
  unknown(method: string, params: readonly unknown[], told: Told): { name: string; says: Told } | undefined;
};

/**
 * Stands before a chain's node, and is a second one that knows what the first one knows, until it is told to
 * - `lag`: of the chain beyond its head now it knows nothing, or to
 * - `diverge`: beyond its head now it has as many blocks as the first, others and empty.
 *
 * What is sent to it reaches the first, until it is told to
 * - `refuse`: it says that it has not taken what it has taken, and knows nothing of it before a block has it, or to
 * - `evict`: it says that it has taken what it has forgotten at once. `remember` hands all of that to the first: what
 *   nobody has in his pool may be mined all the same.
 */
export type DivergentNode = {
  url: string;
  lag(): Promise<void>;
  diverge(): Promise<void>;
  follow(): void;
  /** Where it left the chain; undefined while it follows. */
  left(): Left | undefined;
  /** How many answers differed from those of the first. */
  differed(): number;
  refuse(): void;
  evict(): void;
  remember(): Promise<void>;
  /** How many transactions it lied about. */
  lied(): number;
  heights(): Promise<{ at: number; final: number }>;
  close(): Promise<void>;
};

type Call = { id: unknown; method: string; params?: readonly unknown[] };

export async function startDivergentNode(
  firstUrl: string,
  protocol: DivergentProtocol,
): Promise<DivergentNode> {
  const { host, username, password, ...first } = partsOf(firstUrl);
  const headers = {
    'content-type': 'application/json',
    ...(username === ''
      ? {}
      : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }),
  };
  let left: Left | undefined;
  let differed = 0;
  let lies: 'refuse' | 'evict' | undefined;
  /** What it has taken and denies, and what it has said to have and has not: what was asked for with it. */
  const denied = new Set<string>();
  const evicted = new Map<string, readonly unknown[]>();

  async function forward(body: string): Promise<string> {
    const answer = await request(`http://${host}${first.path}`, { method: 'POST', headers, body });
    return await answer.body.text();
  }
  const ask: Ask = async (method, params) =>
    JSON.parse(await forward(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })), exactly);

  async function answer({ id, method, params = [] }: Call): Promise<object> {
    const told = await tell(method, params);
    return { jsonrpc: '2.0', ...told, id };
  }

  async function tell(method: string, params: readonly unknown[]): Promise<Told> {
    if (method === protocol.sends && lies !== undefined) return await lieAbout(lies, params);
    const told =
      left === undefined
        ? await ask(method, params)
        : await protocol.tell(left, method, params, ask, () => {
            differed += 1;
          });
    const unknown = protocol.unknown(method, params, told);
    return unknown !== undefined && denied.has(unknown.name) ? unknown.says : told;
  }

  async function lieAbout(lie: 'refuse' | 'evict', params: readonly unknown[]): Promise<Told> {
    const name = await protocol.nameOf(String(params[0]), ask);
    if (lie === 'evict') {
      evicted.set(name, params);
      return { result: name };
    }
    const told = await ask(protocol.sends, params);
    if (told.error !== undefined) return told;
    denied.add(name);
    return { error: protocol.refusal };
  }

  const says = async (body: string): Promise<string> => {
    // Of amounts not one digit may be lost: what is not changed goes as it came.
    if (left === undefined && lies === undefined) return await forward(body);
    const calls = JSON.parse(body) as Call | Call[];
    return JSON.stringify(await (Array.isArray(calls) ? Promise.all(calls.map(answer)) : answer(calls)));
  };

  const { host: ownHost, close } = await startRpcServer(says);

  const leave = (how: Left['how']) => async () => {
    differed = 0;
    left = { how, ...(await protocol.heights(ask)) };
  };
  const url = new URL(firstUrl);
  url.host = ownHost;
  return {
    url: url.href,
    lag: leave('lag'),
    diverge: leave('diverge'),
    follow() {
      left = undefined;
    },
    left: () => left,
    differed: () => differed,
    refuse() {
      denied.clear();
      lies = 'refuse';
    },
    evict() {
      evicted.clear();
      lies = 'evict';
    },
    async remember() {
      lies = undefined;
      for (const params of evicted.values()) await ask(protocol.sends, params);
    },
    lied: () => (lies === 'evict' ? evicted.size : denied.size),
    heights: () => protocol.heights(ask),
    close,
  };
}

function partsOf(text: string) {
  const { host, pathname, search, username, password } = new URL(text);
  return { host, path: `${pathname}${search}`, username, password: decodeURIComponent(password) };
}

/** Numbers with a point stay as they are written. */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(context.source);
}
