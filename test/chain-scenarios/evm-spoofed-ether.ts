import { concat } from 'viem';
import { creation, type Instruction, runtime } from './evm-code.ts';
import { alike, CONFIRMATIONS, DUE, type Spoof, transferCall } from './evm-forger.ts';

/** Where Ether was asked for. */
export const spoofedEther: Spoof[] = [
  [
    'Ether by a transaction that reverts',
    {},
    async (to, { contract, send }) => {
      const value = DUE.ETH;
      await send({ to: await contract({ call: to, value }, 'revert'), value }, 'reverted');
    },
  ],
  [
    'Ether by a call whose caller reverts, in a transaction that succeeds',
    {},
    async (to, { contract, send }) => {
      const inner = await contract({ call: to, value: DUE.ETH }, 'revert');
      await send({ to: await contract({ call: inner, value: DUE.ETH }), value: DUE.ETH });
    },
  ],
  [
    'Ether that a contract does not have',
    {},
    async (to, { contract, send }) => send({ to: await contract({ call: to, value: DUE.ETH }) }),
  ],
  ['no Ether at all', {}, (to, { send }) => send({ to, value: 0n })],
  [
    'our address in the data of a transaction to somebody else',
    {},
    (to, { send }) => send({ to: alike(to), value: DUE.ETH, data: concat([to, to]) }),
  ],
  ['Ether to an address that looks like ours', {}, (to, { send }) => send({ to: alike(to), value: DUE.ETH })],
  [
    'Ether to a contract that is being made',
    {},
    (to, { send, transferLog }) =>
      send({ value: DUE.ETH, data: creation(runtime(transferLog(to, DUE.ETH))) }),
  ],
  [
    'an old call that names us and gives the value to its caller',
    {},
    async (to, { contract, send }) =>
      send({ to: await contract({ callCode: to, value: DUE.ETH }), value: DUE.ETH }),
  ],
  [
    'a transaction that waits and is in no block',
    {},
    async (to, { chain, shop }) => {
      const waiting = await chain.sign(2, await chain.nonce(2), { to, value: DUE.ETH });
      const hash = await chain.client.sendRawTransaction({ serializedTransaction: waiting });
      await shop.look('ethereum');
      await chain.client.dropTransaction({ hash });
    },
  ],
  [
    'a transaction that is replaced by one to somebody else',
    {},
    async (to, { chain }) => {
      const of = await chain.nonce(2);
      await chain.client.sendRawTransaction({
        serializedTransaction: await chain.sign(2, of, { to, value: DUE.ETH }),
      });
      const dearer = {
        to: alike(to),
        value: DUE.ETH,
        maxFeePerGas: 10n ** 11n,
        maxPriorityFeePerGas: 10n ** 10n,
      };
      await chain.mine([await chain.sign(2, of, dearer)]);
    },
  ],
  [
    'a block that is dropped for good',
    {},
    async (to, { chain, shop }) => {
      await chain.mine([await chain.sign(2, await chain.nonce(2), { to, value: DUE.ETH })]);
      await shop.look('ethereum');
      await chain.reorg(1, [[], []]);
    },
  ],
  [
    'a final block that is dropped for good',
    {},
    async (to, { chain, shop }) => {
      await chain.mine([await chain.sign(2, await chain.nonce(2), { to, value: DUE.ETH })]);
      await chain.mineEmpty(CONFIRMATIONS);
      await shop.look('ethereum');
      await chain.reorg(
        CONFIRMATIONS + 1,
        Array.from({ length: CONFIRMATIONS + 2 }, () => []),
      );
    },
  ],
  ['a single wei', { ETH: 1n }, (to, { send }) => send({ to, value: 1n })],
  [
    'Ether by a contract that destroys itself',
    { ETH: DUE.ETH },
    async (to, { contract, send }) => send({ to: await contract({ destroyTo: to }), value: DUE.ETH }),
  ],
  [
    'Ether by a contract that is never there',
    { ETH: DUE.ETH },
    (to, { send }) => send({ value: DUE.ETH, data: creation('0x', { destroyTo: to }) }),
  ],
  [
    'Ether three times by one transaction',
    { ETH: 3n * DUE.ETH },
    async (to, { contract, send }) => {
      const once = { call: to, value: DUE.ETH };
      await send({ to: await contract(once, once, once), value: 3n * DUE.ETH });
    },
  ],
  [
    'Ether by two calls of which one is undone',
    { ETH: DUE.ETH },
    async (to, { contract, send }) => {
      const undone = await contract({ call: to, value: DUE.ETH }, 'revert');
      const instructions: Instruction[] = [
        { call: undone, value: DUE.ETH },
        { call: to, value: DUE.ETH },
      ];
      await send({ to: await contract(...instructions), value: 2n * DUE.ETH });
    },
  ],
  [
    'a log of Ether that never came',
    {},
    async (to, { contract, send, transferLog }) => send({ to: await contract(transferLog(to, DUE.ETH)) }),
  ],
  [
    'tokens where Ether was asked for',
    { USDC_ERC20: 25_000_000n },
    (to, { chain, send }) => send({ to: chain.usdc, data: transferCall(to, DUE.USDC_ERC20) }),
  ],
];
