/**
 * Random cases that are the same in every run, so that a failure is caused by a change. Use another seed to find new
 * cases: `SEED=12 npx vitest run test/property`.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) });

export default fc;
