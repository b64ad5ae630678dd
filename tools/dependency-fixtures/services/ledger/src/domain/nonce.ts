// breaks: domain-is-pure
import { randomInt } from 'node:crypto';

export const nonce = () => randomInt(9);
