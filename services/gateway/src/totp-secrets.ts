import { randomBytes } from 'node:crypto';
import { createEncryption, type Encryption } from '@quittance/shared/encryption';

/** Encrypts the secrets of people's codes; the owner is the person. @param setting TOTP_SECRETS_KEY */
export const totpSecrets = (setting: string): Encryption =>
  createEncryption(setting, 'quittance totp secrets', randomBytes);
