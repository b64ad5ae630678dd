import { afterAll } from '@jest/globals';
import { testNats } from '@quittance/testkit/engines';
import { type Script, startScriptedNode } from '@quittance/testkit/scripted-node';
import type { Finding } from '../src/doctor/finding.ts';
import { commandSuite } from './quittance-in.ts';

export const hex = (value: number): string => `0x${value.toString(16)}`;

/** A node of Ethereum, whose answers a test changes. */
async function startNode(changed: Readonly<Record<string, unknown>> = {}) {
  const seconds = Math.floor(Date.now() / 1_000);
  const block = { number: hex(100), hash: hex(1), parentHash: hex(2), timestamp: hex(seconds) };
  const hash = (text: string) => `0x${text.slice(2).padStart(64, '0')}`;
  const answers: Readonly<Record<string, unknown>> = {
    eth_chainId: hex(1),
    eth_syncing: false,
    ...changed,
    eth_getBlockByNumber: {
      ...block,
      hash: hash(block.hash),
      parentHash: hash(block.parentHash),
      ...(changed['eth_getBlockByNumber'] as object | undefined),
    },
  };
  const script: Script = (method) => answers[method] ?? new Error(`no ${method}`);
  const { url, stop } = await startScriptedNode(script);
  return { url: `${url}/v3/key-that-is-secret`, stop };
}

export const ofEthereum = (url: string) => ({ ETHEREUM_RPC_URL: url, ETHEREUM_CHAIN_ID: '1' });

/** For one suite: an installation that is right, with a Postgres and a NATS of its own, and the doctor's findings about it. */
export async function doctorSuite() {
  const { folder, env, quittance } = await commandSuite();
  const nats = await testNats();
  const ends: (() => unknown)[] = [() => nats.stop()];
  afterAll(async () => {
    for (const end of ends) await end();
  });
  const admin = env().DATABASE_URL_ADMIN;
  const usual = { DATABASE_URL_ADMIN: admin, NATS_URL: nats.url };
  return {
    folder,
    quittance,
    nats,
    admin,
    usual,
    /** Runs after the last test. */
    finally: (end: () => unknown) => void ends.push(end),
    /** A node of Ethereum that runs until the last test has ended. */
    async node(changed?: Readonly<Record<string, unknown>>) {
      const { url, stop } = await startNode(changed);
      ends.push(stop);
      return url;
    },
    /** What the doctor says in JSON with these settings in place of the right ones, or beside them. */
    async looked(more: Readonly<Record<string, string>>, ...args: string[]) {
      const ended = await quittance(['doctor', '--json', ...args], { ...usual, ...more });
      return { ...ended, findings: (ended.json() as { findings: Finding[] }).findings };
    },
  };
}

export const wrong = (findings: readonly Finding[]): Finding[] =>
  findings.filter(({ state }) => state === 'problem');
