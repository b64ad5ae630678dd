import { allKilledAtOnce } from './crash-without-failpoints.ts';
import { failpointMatrix } from './failpoint-matrix.ts';
import { failpointSuites } from './failpoint-rows.ts';

allKilledAtOnce(failpointMatrix(failpointSuites.solana), 'ETH', 'SOL');
