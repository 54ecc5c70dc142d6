/**
 * Random cases that are the same in every run, so that a failure belongs to the change that made it. Look for new ones
 * with another seed: `SEED=12 npx vitest run test/property`.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) });

export default fc;
