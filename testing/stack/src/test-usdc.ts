import { readFileSync } from 'node:fs';
import {
  type Account,
  type Chain,
  concat,
  createTestClient,
  getContractAddress,
  type Hex,
  http,
  parseAbi,
  publicActions,
  type Transport,
  type WalletClient,
  walletActions,
  zeroHash,
} from 'viem';
import { anvil } from './anvil-chain.ts';

/** anvil has this contract from the start: it deploys to an address that depends on the code alone. */
const DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
/** A billion whole coins for the first development account. */
const FIRST_MINT = 10n ** 15n;
const MINED_WITHIN_MS = 10_000;

const usdcAbi = parseAbi([
  'function mint(address to, uint256 amount)',
  'function balanceOf(address owner) view returns (uint256)',
]);
const splitterAbi = parseAbi(['function split(address[] to) payable']);

/**
 * Deploys the test USD Coin on a development chain and gives the first development account plenty of it. On a
 * chain that has it already, nothing happens.
 * @returns the token's address, the same on every chain.
 */
export async function deployTestUsdc(rpcUrl: string): Promise<string> {
  const node = connect(rpcUrl);
  const token = await deploy(rpcUrl, 'TestUsdc');
  const [faucet] = await node.getAddresses();
  if (faucet === undefined) throw new Error('the node has no development account');
  const balance = await node.readContract({
    address: token,
    abi: usdcAbi,
    functionName: 'balanceOf',
    args: [faucet],
  });
  if (balance === 0n) await mintTestUsdc(rpcUrl, token, faucet, FIRST_MINT);
  return token.toLowerCase();
}

/** Makes test USD Coin out of nothing, in millionths, and waits until it is in a block. */
export async function mintTestUsdc(rpcUrl: string, token: string, to: string, amount: bigint): Promise<void> {
  const node = connect(rpcUrl);
  const [account] = await node.getAddresses();
  if (account === undefined) throw new Error('the node has no development account');
  const txHash = await node.writeContract({
    account,
    // Whatever the chain's number is.
    chain: null,
    address: token as Hex,
    abi: usdcAbi,
    functionName: 'mint',
    args: [to as Hex, amount],
  });
  await mined(node, txHash);
}

/** Deploys the contract that pays by internal calls; see Splitter.sol. @returns its address. */
export const deploySplitter = (rpcUrl: string): Promise<Hex> => deploy(rpcUrl, 'Splitter');

/** Pays `amount` wei to `to` out of the splitter: the transaction goes to the splitter and names nobody else. */
export const payBySplitter = (
  wallet: WalletClient<Transport, Chain, Account>,
  splitter: Hex,
  to: Hex,
  amount: bigint,
): Promise<Hex> =>
  wallet.writeContract({
    address: splitter,
    abi: splitterAbi,
    functionName: 'split',
    args: [[to]],
    value: amount,
  });

/** Where the test USD Coin is, or will be, on every development chain. */
export const testUsdcAddress = (): string => placeOf('TestUsdc').address.toLowerCase();

function placeOf(name: 'TestUsdc' | 'Splitter'): { address: Hex; bytecode: Hex } {
  const file = new URL(`../contracts/${name}.json`, import.meta.url);
  const { bytecode } = JSON.parse(readFileSync(file, 'utf8')) as { bytecode: Hex };
  const how = { opcode: 'CREATE2', from: DEPLOYER, salt: zeroHash, bytecode } as const;
  return { address: getContractAddress(how), bytecode };
}

async function deploy(rpcUrl: string, name: 'TestUsdc' | 'Splitter'): Promise<Hex> {
  const node = connect(rpcUrl);
  const { address, bytecode } = placeOf(name);
  if ((await node.getCode({ address })) !== undefined) return address;
  const [account] = await node.getAddresses();
  if (account === undefined) throw new Error('the node has no development account');
  const data = concat([zeroHash, bytecode]);
  const txHash = await node.sendTransaction({ account, chain: null, to: DEPLOYER, data });
  await mined(node, txHash);
  return address;
}

const connect = (rpcUrl: string) =>
  createTestClient({
    chain: anvil,
    mode: 'anvil',
    transport: http(rpcUrl),
    cacheTime: 0,
    pollingInterval: 50,
  })
    .extend(publicActions)
    .extend(walletActions);

/** Makes the block itself on a node that makes none. */
async function mined(node: ReturnType<typeof connect>, hash: Hex): Promise<void> {
  const { blockHash } = await node.getTransaction({ hash });
  if (blockHash === null) await node.mine({ blocks: 1 });
  const { status } = await node.waitForTransactionReceipt({ hash, timeout: MINED_WITHIN_MS });
  if (status !== 'success') throw new Error(`the transaction ${hash} failed`);
}
