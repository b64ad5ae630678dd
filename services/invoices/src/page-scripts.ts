import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { PageScript } from '@quittance/shared/html';
import { type CompressedText, compressedOf, policyHash } from '@quittance/shared/send-page';

/** A text of a script, which is kept, or signs with a space before or after them, which say the same without it. */
const TEXT_OR_SIGNS = /('[^'\n]*'|`[^`]*`)| ?([!&()*,/:;<=>?[\]{|}]+) ?/g;

/**
 * A script of a browser as it is sent: without the lines that are comments, and without indentation, line ends and spaces that
 * say nothing. No text in it goes over several lines, so none is changed. Everything else is sent as it is written.
 */
function scriptOf(source: string): string {
  const lines = source.split('\n').map((line) => line.trim());
  const code = lines.filter((line) => line !== '' && !line.startsWith('//')).join('\n');
  return code
    .replace(TEXT_OR_SIGNS, (_, text?: string, signs?: string) => text ?? signs ?? '')
    .replace(/(?<=[(,;{])\n/g, '');
}

const read = (name: string): string =>
  scriptOf(readFileSync(new URL(`./browser/${name}.js`, import.meta.url), 'utf8'));

/** A file that pages load. */
export type PageAsset = { file: CompressedText; isForever: boolean };

const wallet = read('wallet');

/** The name changes with the content, so that browsers keep it for ever. */
const walletName = `wallet-${hash('sha256', wallet).slice(0, 32)}.js`;

/** The files by their names below `/pay/assets`. Shops name the dialog in their pages: its name stays. */
export const pageAssets: ReadonlyMap<string, PageAsset> = new Map([
  [walletName, { file: compressedOf(wallet), isForever: true }],
  ['modal.js', { file: compressedOf(read('modal')), isForever: false }],
]);

/** The script of wallets in the browser: its path below PUBLIC_URL, and its hash for the policy and the page. */
export const walletScript = { path: `/pay/assets/${walletName}`, hash: policyHash(wallet) };

const text = read('payment-page');

/**
 * The script of the payment page.
 * @param publicUrl where the script of wallets is loaded from, when the page or what takes its place may have a use for it
 */
export const pageScript = (publicUrl?: string): PageScript => ({
  text,
  hash: policyHash(text),
  loads: publicUrl === undefined ? [] : [`${publicUrl}${walletScript.path}`, `'${walletScript.hash}'`],
});
