// breaks: testing-imports-services
import { bench } from '../../../bench/main.ts';

export const anvil = bench;
