/** The longest that SMTP takes (RFC 5321, 4.5.3.1), without the angle brackets. */
export const MAIL_ADDRESS_CHARACTERS_MAX = 254;
const LOCAL_CHARACTERS_MAX = 64;

/**
 * The form of addresses that mails are sent to: a dot-atom and a host name. Quoted local parts, comments, lists and names are
 * legal and are read differently by different programs, so that a mail could go elsewhere than it seems.
 */
const form =
  /^([a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)@((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$/i;

export function isMailAddress(text: string): boolean {
  const [, local] = form.exec(text) ?? [];
  return (
    local !== undefined && local.length <= LOCAL_CHARACTERS_MAX && text.length <= MAIL_ADDRESS_CHARACTERS_MAX
  );
}

export type MailSender = { name: string; address: string };

/** Reads `address` or `Name <address>`; undefined of any other text. */
export function readSender(text: string): MailSender | undefined {
  const [, name, bracketed] = /^([^<>"\\,;:@\p{Cc}]*)<([^<>]+)>$/u.exec(text) ?? [];
  const address = bracketed ?? text;
  return isMailAddress(address) ? { name: name?.trim() ?? '', address } : undefined;
}
