export const SHOP_NAME_CHARACTERS_MAX = 60;
export const REDIRECT_HOSTS_MAX = 20;
export const FRAME_ANCESTORS_MAX = 10;
/** The page of a payment has it inside, and stays below 30 kB. */
export const LOGO_CHARACTERS_MAX = 8_192;

/** How the files of a format begin. Others, such as SVG, may carry more than a picture. */
const formats = {
  png: (bytes: Uint8Array) => startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  jpeg: (bytes: Uint8Array) => startsWith(bytes, [0xff, 0xd8, 0xff]),
  // "RIFF", four bytes of length, "WEBP".
  webp: (bytes: Uint8Array) =>
    startsWith(bytes, [0x52, 0x49, 0x46, 0x46]) && startsWith(bytes.slice(8), [0x57, 0x45, 0x42, 0x50]),
} as const;

const startsWith = (bytes: Uint8Array, start: readonly number[]): boolean =>
  start.every((byte, i) => bytes[i] === byte);

export type LogoProblem = 'no_data_uri' | 'too_large' | 'other_format';

/** Why a text is no logo; undefined: it is one. The bytes decide about the format, and must be what the text says. */
export function logoProblem(text: string): LogoProblem | undefined {
  const [, named, base64 = ''] =
    /^data:image\/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  if (named === undefined) return 'no_data_uri';
  // Of such a text each character is one of its length.
  if (text.length > LOGO_CHARACTERS_MAX) return 'too_large';
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) return 'no_data_uri';
  return formats[named as keyof typeof formats](bytes) ? undefined : 'other_format';
}

/** A host as a browser compares it; undefined where the text is no host name, with a port where it is not the usual one. */
export function hostOf(text: string): string | undefined {
  const lower = text.toLowerCase();
  return URL.canParse(`https://${lower}`) && new URL(`https://${lower}`).host === lower ? lower : undefined;
}

/** Whether a text is an origin of HTTPS and nothing else, so that it is one word of a Content-Security-Policy. */
export const isHttpsOrigin = (text: string): boolean =>
  /^https:\/\/[a-z0-9.-]+(?::\d+)?$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** Whether customers of an account may be sent to this URL: any where the account names no hosts. */
export const isAllowedRedirect = (url: string, hosts: readonly string[]): boolean =>
  hosts.length === 0 || hosts.includes(new URL(url).host);
