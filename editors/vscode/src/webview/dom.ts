/** What an element may hold; false and null are left out, which reads well with &&. */
export type Child = Node | string | false | null | undefined;

/** Makes an element. Text is text: nothing is parsed as HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(name: K, attributes: Record<string, string | number | boolean>, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false) continue;
    e.setAttribute(key, value === true ? '' : String(value));
  }
  e.append(...children.filter((child): child is Node | string => child !== false && child != null));
  return e;
}
