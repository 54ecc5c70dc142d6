/**
 * `<playground-embed panel="cel">`: a code block with a button that opens its text in the playground, below the block.
 * The playground is loaded when the reader asks for it.
 */
import { withBase } from 'vitepress';
import { encodeShare } from '../../../examples/playground/src/share/share-link.js';

export class PlaygroundEmbed extends HTMLElement {
  readonly #open = (event: Event): void => {
    // The block has a button of its own, which copies the text.
    if (event.target !== this.querySelector(':scope > button')) return;
    void this.#show();
  };

  connectedCallback(): void {
    this.addEventListener('click', this.#open);
  }

  disconnectedCallback(): void {
    this.removeEventListener('click', this.#open);
  }

  async #show(): Promise<void> {
    this.classList.add('open'); // hides the button
    const text = this.querySelector('pre code')?.textContent ?? '';
    const panel = this.getAttribute('panel');
    const state = await encodeShare({ text: `${text}\n`, ...(panel === null ? {} : { panel }) });
    const theme = document.documentElement.classList.contains('dark') ? 'dark' : 'light';
    const address = `${withBase('/playground/index.html')}?theme=${theme}#${state}`;
    const frame = makeFrame(address);
    const close = makeButton('Close', () => {
      this.classList.remove('open', 'large');
      frame.remove();
      bar.remove();
      this.querySelector<HTMLElement>(':scope > button')?.focus();
    });
    const enlarge = makeButton('Enlarge', () => {
      enlarge.textContent = this.classList.toggle('large') ? 'Reduce' : 'Enlarge';
    });
    const bar = document.createElement('div');
    bar.className = 'playground-bar';
    bar.append(enlarge, makeTabLink(address), close);
    this.append(bar, frame);
    enlarge.focus();
  }
}

function makeFrame(address: string): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.title = 'Playground';
  frame.src = address;
  return frame;
}

function makeButton(text: string, onClick: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  button.addEventListener('click', onClick);
  return button;
}

function makeTabLink(address: string): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = address;
  link.target = '_blank';
  link.textContent = 'Open in a new tab';
  return link;
}
