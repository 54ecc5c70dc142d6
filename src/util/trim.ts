/** `strings.TrimRight` for one character. A pattern such as `/ +$/` takes quadratic time. */
export function trimRight(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
