import { createToken, listTokens, revokeToken, rotateToken } from '@quittance/gateway/operations/accounts';
import { noSuchAccount, withGateway } from './gateway-commands.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { DAY_MS, type Scope } from './read-options.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

export type TokenOptions = {
  name: string;
  scope?: Scope[];
  allowIp?: string[];
  expiresIn?: number;
  /** The former form of it. */
  expiresInDays?: number;
};

const nameRule = "cannot be a token's name: 1 to 255 characters, in one line.";

type Created = { token: string; hint: string; expiresAt: Date | null; id: string };

/** What is said of a token this once. */
const shown = ({ token, hint, expiresAt, id }: Created) => say`
  ${token}\n
Copy it now: it is stored nowhere and will not be shown again.
It is sent with every request as  Authorization: Bearer qt_…${hint}
${
  expiresAt === null
    ? say`It is good until you revoke it:  npx quittance token revoke ${id}`
    : say`It expires at ${minute(expiresAt)}.`
}\n`;

export const tokenCreate = (
  around: Surroundings,
  account: string,
  { name, scope, allowIp, expiresIn, expiresInDays }: TokenOptions,
): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const ms = expiresIn ?? (expiresInDays === undefined ? undefined : expiresInDays * DAY_MS);
    const expiresAt = ms === undefined ? null : new Date(ports.clock.now().getTime() + ms);
    const once = <T>(all: T[] | undefined) => (all === undefined ? null : [...new Set(all)]);
    const limits = { scopes: once(scope), allowedIps: once(allowIp), expiresAt };
    const made = await createToken(ports, { account, name, ...limits, ...ports.author });
    if (!made.ok) {
      const why = {
        no_such_account: noSuchAccount(account),
        name_invalid: `${JSON.stringify(name)} ${nameRule}`,
        expires_in_the_past: 'A token cannot expire in the past.',
      };
      throw new CommandError(why[made.refusal]);
    }
    const { id, accountName } = made.value;
    return {
      json: createdJson(made.value),
      text: say`Token ${JSON.stringify(made.value.name)} for the account ${JSON.stringify(accountName)} created: ${id}\n
It may: ${limits.scopes?.join(', ') ?? 'everything'}${limits.allowedIps === null ? '' : `, from ${limits.allowedIps.join(', ')}`}
${shown(made.value)}`,
    };
  });

type Made = Extract<Awaited<ReturnType<typeof createToken>>, { ok: true }>['value'];

const createdJson = (token: Made) => ({
  id: token.id,
  token: token.token,
  account_id: token.accountId,
  account: token.accountName,
  name: token.name,
  hint: token.hint,
  scopes: token.scopes,
  allowed_ips: token.allowedIps,
  created_at: token.createdAt,
  expires_at: token.expiresAt,
});

export const tokenRotate = (
  around: Surroundings,
  id: string,
  { overlapHours, expiresIn }: { overlapHours: number; expiresIn?: number },
): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const later = expiresIn === undefined ? undefined : new Date(ports.clock.now().getTime() + expiresIn);
    const order = { id, overlapHours, ...(later && { expiresAt: later }), ...ports.author };
    const rotated = await rotateToken(ports, order);
    if (!rotated.ok) {
      const why = {
        no_such_token: noSuchToken(id),
        not_active: `The token ${id} was revoked or has expired: create another one.`,
        replaced: `The token ${id} was rotated before. \`quittance token list\` shows which one took its place: rotate that.`,
        expires_in_the_past: 'A token cannot expire in the past.',
      };
      throw new CommandError(why[rotated.refusal]);
    }
    const { token, formerUntil } = rotated.value;
    return {
      json: { ...createdJson(token), replaces: id, former_token_expires_at: formerUntil },
      text: say`Token ${token.id} takes the place of ${id}, which expires at ${minute(formerUntil)}.\n
${shown(token)}`,
    };
  });

export const tokenList = (around: Surroundings, account: string | undefined): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const listed = await listTokens(ports, account);
    if (!listed.ok) throw new CommandError(noSuchAccount(account ?? ''));
    const tokens = listed.value;
    return {
      json: tokens.map((token) => ({
        id: token.id,
        account_id: token.accountId,
        account: token.accountName,
        name: token.name,
        hint: token.hint,
        state: token.state,
        scopes: token.scopes,
        allowed_ips: token.allowedIps,
        created_at: token.createdAt,
        last_used_at: token.lastUsedAt,
        last_used_ip: token.lastUsedIp,
        expires_at: token.expiresAt,
        revoked_at: token.revokedAt,
        replaced_by: token.replacedBy,
      })),
      text:
        tokens.length === 0
          ? say`No tokens yet. Make one:\n  npx quittance token create ACCOUNT --name "server"\n`
          : table(
              ['ID', 'ACCOUNT', 'NAME', 'ENDS IN', 'MAY', 'FROM', 'CREATED', 'LAST USED', 'STATE'],
              tokens.map((token) => [
                token.id,
                token.accountName,
                token.name,
                token.hint,
                token.scopes?.join(' ') ?? 'everything',
                token.allowedIps?.join(' ') ?? 'everywhere',
                minute(token.createdAt),
                token.lastUsedIp === null
                  ? minute(token.lastUsedAt)
                  : `${minute(token.lastUsedAt)} ${token.lastUsedIp}`,
                stateOf(token),
              ]),
            ),
    };
  });

function stateOf(token: { state: string; expiresAt: Date | null; revokedAt: Date | null }): string {
  if (token.state === 'revoked') return `revoked ${minute(token.revokedAt)}`;
  if (token.expiresAt === null) return token.state;
  return token.state === 'expired'
    ? `expired ${minute(token.expiresAt)}`
    : `active until ${minute(token.expiresAt)}`;
}

const noSuchToken = (id: string) =>
  `There is no token ${JSON.stringify(id)}. \`quittance token list\` shows the ids; the token itself is no id.`;

export const tokenRevoke = (around: Surroundings, id: string): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const revoked = await revokeToken(ports, { id, ...ports.author });
    if (!revoked.ok) throw new CommandError(noSuchToken(id));
    const { name, accountName, revokedAt } = revoked.value;
    return {
      json: { id, account: accountName, name, revoked_at: revokedAt },
      text: say`Token ${JSON.stringify(name)} of the account ${JSON.stringify(accountName)} is revoked since ${minute(revokedAt)}: it is refused from now on.\n`,
    };
  });
