import { encodeFunctionData, pad } from 'viem';
import {
  alike,
  DUE,
  ETHER,
  type EvmForger,
  mintCall,
  type Spoof,
  TRANSFER,
  tokenAbi,
  transferCall,
  word,
} from './evm-forger.ts';

/** Where tokens were asked for. */
export const spoofedTokens: Spoof[] = [
  ['Ether where tokens were asked for', { ETH: DUE.ETH }, (to, { send }) => send({ to, value: DUE.ETH })],
  [
    'more tokens than the payer has',
    {},
    (to, { chain, send }) => send({ to: chain.usdc, data: transferCall(to, 10n ** 30n) }, 'reverted'),
  ],
  ['no tokens at all', {}, (to, { chain, send }) => send({ to: chain.usdc, data: transferCall(to, 0n) })],
  [
    'an allowance',
    {},
    (to, { chain, send }) =>
      send({
        to: chain.usdc,
        data: encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [to, DUE.USDC_ERC20] }),
      }),
  ],
  [
    'tokens to an address that looks like ours',
    {},
    (to, { chain, send }) => send({ to: chain.usdc, data: transferCall(alike(to), DUE.USDC_ERC20) }),
  ],
  [
    'the log of another contract',
    {},
    async (to, { contract, send, transferLog }) =>
      send({ to: await contract(transferLog(to, DUE.USDC_ERC20)) }),
  ],
  [
    'the log of another contract beside a real transfer to somebody else',
    {},
    async (to, { chain, contract, send, transferLog }) => {
      const forger = await contract(
        { call: chain.usdc, data: mintCall(alike(to), DUE.USDC_ERC20) },
        transferLog(to, DUE.USDC_ERC20),
      );
      await send({ to: forger });
    },
  ],
  [
    'a token whose transfer returns false',
    {},
    async (to, { contract, send }) =>
      send({ to: await contract({ give: word(0n) }), data: transferCall(to, DUE.USDC_ERC20) }),
  ],
  [
    'a token of the same name, with eighteen digits',
    {},
    async (to, { contract, send, transferLog }) => {
      const forged = await contract(transferLog(to, 25n * ETHER), { give: word(1n) });
      await send({ to: forged, data: transferCall(to, 25n * ETHER) });
    },
  ],
  [
    'a token that keeps a fee of what it says to move',
    {},
    async (to, { contract, send, transferLog }) => {
      const forged = await contract(transferLog(to, DUE.USDC_ERC20), transferLog(alike(to), 1_000_000n));
      await send({ to: forged, data: transferCall(to, DUE.USDC_ERC20) });
    },
  ],
  [
    'a proxy that runs the token’s code on its own books',
    {},
    async (to, { chain, contract, send }) =>
      send({ to: await contract({ delegate: chain.usdc, data: mintCall(to, DUE.USDC_ERC20) }) }),
  ],
  [
    'a thing with a number, whose log looks alike',
    {},
    async (to, { contract, payer, send }) => {
      const from = pad(payer.address);
      await send({ to: await contract({ log: [TRANSFER, from, pad(to), word(DUE.USDC_ERC20)], data: [] }) });
    },
  ],
  [
    'a log that names us in its data alone',
    {},
    async (to, { contract, send }) =>
      send({ to: await contract({ log: [TRANSFER], data: [pad(to), pad(to), word(DUE.USDC_ERC20)] }) }),
  ],
  [
    'tokens by a transaction that reverts',
    {},
    async (to, { chain, contract, send }) => {
      const data = mintCall(to, DUE.USDC_ERC20);
      await send({ to: await contract({ call: chain.usdc, data }, 'revert') }, 'reverted');
    },
  ],
  [
    'tokens by a call whose caller reverts, in a transaction that succeeds',
    {},
    async (to, { chain, contract, send }) => {
      const data = mintCall(to, DUE.USDC_ERC20);
      const inner = await contract({ call: chain.usdc, data }, 'revert');
      await send({ to: await contract({ call: inner }) });
    },
  ],
  [
    'tokens in a block that is dropped for good',
    {},
    async (to, { chain, shop }) => {
      const call = { to: chain.usdc, data: transferCall(to, DUE.USDC_ERC20) };
      await chain.mine([await chain.sign(2, await chain.nonce(2), call)]);
      await shop.look('ethereum');
      await chain.reorg(1, [[], []]);
    },
  ],
  [
    'a millionth of a dollar',
    { USDC_ERC20: 1n },
    (to, { chain, send }) => send({ to: chain.usdc, data: transferCall(to, 1n) }),
  ],
  [
    'tokens by a contract, among forged logs',
    { USDC_ERC20: 25_000_000n },
    async (to, { chain, contract, send, transferLog }) => {
      const forged = transferLog(to, 10n ** 12n);
      await send({
        to: await contract(forged, { call: chain.usdc, data: mintCall(to, DUE.USDC_ERC20) }, forged),
      });
    },
  ],
  [
    'tokens twice in one transaction',
    { USDC_ERC20: 50_000_000n },
    async (to, { chain, contract, send }) => {
      const once = { call: chain.usdc, data: mintCall(to, DUE.USDC_ERC20) };
      await send({ to: await contract(once, once) });
    },
  ],
  [
    'tokens by somebody’s allowance',
    { USDC_ERC20: 25_000_000n },
    async (to, { chain, payer, send }) => {
      const owner = chain.payers[2] as EvmForger['payer'];
      const allow = encodeFunctionData({
        abi: tokenAbi,
        functionName: 'approve',
        args: [payer.address, DUE.USDC_ERC20],
      });
      await chain.mine([await chain.sign(2, await chain.nonce(2), { to: chain.usdc, data: allow })]);
      const args = [owner.address, to, DUE.USDC_ERC20] as const;
      await send({
        to: chain.usdc,
        data: encodeFunctionData({ abi: tokenAbi, functionName: 'transferFrom', args }),
      });
    },
  ],
];
