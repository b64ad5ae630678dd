// breaks: services-stay-in-production
import { bench } from '../../../../bench/main.ts';

export const measure = bench;
