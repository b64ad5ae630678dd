import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

/**
 * Stands in for a Bitcoin node: answers what a scanner asks, and has a new block whenever it is told `grow`. Each block
 * has so many outputs, of which some pay addresses of ours, one after the other.
 */
const [port = '', outputsText = '', oursText = '', addressesText = ''] = process.argv.slice(2);
// eslint-disable-next-line no-restricted-syntax -- counts
const [outputs, ours, addresses] = [outputsText, oursText, addressesText].map(Number) as [
  number,
  number,
  number,
];

const GENESIS = '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206';
const OUTPUTS_OF_A_TRANSACTION = 4;
const BEGUN = Math.floor(Date.now() / 1_000);
/** Blocks that are there before a scanner comes: nothing in them is ours. */
const BEFORE = 200;
let height = BEFORE;
let made: { height: number; text: string } | undefined;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const hashOf = (of: number): string => (of === 0 ? GENESIS : digest(`block ${of}`));

/** As the benchmark writes them into the tables. */
const ourAddress = (i: number): string => `bcrt1q${createHash('md5').update(`ours ${i}`).digest('hex')}`;

function blockText(of: number): string {
  const every = Math.floor(outputs / ours);
  const tx = Array.from({ length: outputs / OUTPUTS_OF_A_TRANSACTION }, (_, t) => {
    const txid = digest(`transaction ${of} ${t}`);
    return {
      txid,
      hash: digest(txid),
      version: 2,
      size: 222,
      vsize: 141,
      weight: 561,
      locktime: 0,
      vin: [
        t === 0
          ? { coinbase: '03a1b2c3', txinwitness: ['0'.repeat(64)], sequence: 4294967295 }
          : {
              txid: digest(`spent ${txid}`),
              vout: 0,
              scriptSig: { asm: '', hex: '' },
              txinwitness: [`30${'ab'.repeat(70)}01`, `02${'cd'.repeat(32)}`],
              sequence: 4294967293,
            },
      ],
      vout: Array.from({ length: OUTPUTS_OF_A_TRANSACTION }, (_, n) => {
        const i = t * OUTPUTS_OF_A_TRANSACTION + n;
        const isOurs = of > BEFORE && i % every === 1 && i < ours * every;
        const program = digest(`program ${of} ${i}`).slice(0, 40);
        const address = isOurs
          ? ourAddress((of * ours + Math.floor(i / every)) % addresses)
          : `bcrt1q${digest(`stranger ${of} ${i}`).slice(0, 38)}`;
        return {
          value: 0.00041667,
          n,
          scriptPubKey: {
            asm: `0 ${program}`,
            desc: `addr(${address})#abcdefgh`,
            hex: `0014${program}`,
            address,
            type: 'witness_v0_keyhash',
          },
        };
      }),
      hex: '0'.repeat(444),
    };
  });
  return JSON.stringify({ ...headerOf(of), nTx: tx.length, tx });
}

const headerOf = (of: number) => ({
  hash: hashOf(of),
  confirmations: height - of + 1,
  height: of,
  time: BEGUN + of,
  previousblockhash: hashOf(of - 1),
  ...(of < height ? { nextblockhash: hashOf(of + 1) } : {}),
});

const heightOf = (hash: unknown): number => {
  for (let of = height; of >= 0; of--) if (hashOf(of) === hash) return of;
  return -1;
};

/** The text of the result. */
function answer(method: string, params: readonly unknown[]): string {
  switch (method) {
    case 'grow':
      height += 1;
      // Made before it is asked for: it is the reading that is measured.
      made = { height, text: blockText(height) };
      return String(height);
    case 'getblock':
      return made?.height === heightOf(params[0]) ? made.text : blockText(heightOf(params[0]));
    case 'getblockheader':
      return JSON.stringify(headerOf(heightOf(params[0])));
    case 'getbestblockhash':
      return JSON.stringify(hashOf(height));
    case 'getblockhash':
      return JSON.stringify((params[0] as number) <= height ? hashOf(params[0] as number) : null);
    case 'getblockcount':
      return String(height);
    case 'getrawmempool':
      return '[]';
    case 'getmempoolinfo':
      return '{"loaded":true}';
    case 'getnetworkinfo':
      return '{"version":300200}';
    default:
      throw new Error(`this stand-in does not know ${method}`);
  }
}

type Call = { id: number; method: string; params: readonly unknown[] };

function envelope({ id, method, params }: Call): string {
  if (method === 'getblockhash' && (params[0] as number) > height) {
    return `{"jsonrpc":"2.0","id":${id},"error":{"code":-8,"message":"Block height out of range"}}`;
  }
  return `{"jsonrpc":"2.0","id":${id},"result":${answer(method, params)}}`;
}

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (chunks.length === 0) {
      response.end('ready');
      return;
    }
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    response.setHeader('content-type', 'application/json');
    response.end(Array.isArray(asked) ? `[${asked.map(envelope).join(',')}]` : envelope(asked));
  });
  // eslint-disable-next-line no-restricted-syntax -- a port
}).listen(Number(port), '127.0.0.1');
