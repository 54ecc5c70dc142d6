/**
 * Response bodies that end with their request.
 */
import type { ByteSource, HttpRequest } from '../../protocol/http.js';
import { onAbort } from '../../util/abort.js';
import type { Undo } from '../../util/clock.js';

/** The chunks of a stream, until it ends or the request is aborted. Calls `onEnd` once. */
export function bodyOf(
  stream: ReadableStream<Uint8Array>,
  { signal }: Pick<HttpRequest, 'signal'>,
  onEnd: () => void,
): ByteSource {
  const reader = stream.getReader();
  let isEnded = false;
  let undo: Undo = () => undefined;
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    undo();
    onEnd();
  };
  const cancel = (): void => {
    end();
    // A stream that fails has no reader any more.
    reader.cancel(signal.reason).catch(() => undefined);
  };
  undo = onAbort(signal, cancel);
  return {
    async read() {
      try {
        const { done, value } = await reader.read();
        if (!done) return value;
      } catch (error) {
        if (!isEnded) {
          end();
          throw error;
        }
      }
      end();
      return undefined;
    },
    cancel,
  };
}
