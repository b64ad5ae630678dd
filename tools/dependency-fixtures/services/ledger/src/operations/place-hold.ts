// breaks: edges-are-imported-by-service
import { http } from '../http.ts';

export const placeHold = http;
