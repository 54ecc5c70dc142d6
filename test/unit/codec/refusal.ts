import { yamlBody } from '../../../src/codec/yaml.js';
import { BodyError } from '../../../src/protocol/body.js';

/** What a text is refused with. */
export function refusal(text: string): string {
  try {
    yamlBody(text).read();
  } catch (error) {
    if (error instanceof BodyError) return error.message;
    throw error;
  }
  return 'accepted';
}
