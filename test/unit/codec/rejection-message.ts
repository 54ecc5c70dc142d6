/** Shared helper of the YAML tests. */
import { yamlBody } from '../../../src/codec/yaml.js';
import { BodyError } from '../../../src/protocol/body.js';

/** The message with which a text is rejected, or `accepted`. */
export function rejectionMessage(text: string): string {
  try {
    yamlBody(text).read();
  } catch (error) {
    if (error instanceof BodyError) return error.message;
    throw error;
  }
  return 'accepted';
}
