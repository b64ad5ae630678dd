import { createHash, createHmac } from 'node:crypto';
import type { RefundId } from '@quittance/shared/ids';
import type { Secret } from '@quittance/shared/secret';
import type { Settings } from './ports.ts';

/** 160 bits. */
const TOKEN_BYTES = 20;

/**
 * The token of a refund's claim link. It is derived, so that a repeated request is answered with the same link although only
 * the token's hash is stored: who reads the database cannot claim a refund. Another secret changes no link that was sent.
 */
export const claimTokenOf = (secret: Secret, id: RefundId): string =>
  createHmac('sha256', secret.reveal())
    .update(`claim link ${id}`)
    .digest()
    .subarray(0, TOKEN_BYTES)
    .toString('base64url');

/** What is stored of a token. */
export const claimHashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export const claimUrlOf = ({ publicUrl }: Pick<Settings, 'publicUrl'>, token: string): string =>
  `${publicUrl}/claim/${token}`;
