import type { Graph } from '../lsp_ext';

const ns = 'http://www.w3.org/2000/svg';
/** The most files of a picture; more cannot be read. */
const maxNodes = 12;
const box = { width: 172, height: 26, gapX: 64, gapY: 12 };

interface Node { path: string; label: string; column: number; row: number }
export interface Layout { nodes: Node[]; edges: { from: Node; to: Node; kind: string }[]; width: number; height: number; left: number }

/** Lays files out in columns by their distance from the files that were cited. */
export function layout(graph: Graph, cited: Set<string>): Layout {
  const nodes = [...graph.nodes].sort((a, b) => Number(cited.has(b)) - Number(cited.has(a))).slice(0, maxNodes);
  const shown = new Set(nodes);
  const edges = graph.edges.filter(({ from, to }) => from !== to && shown.has(from) && shown.has(to));
  const column = new Map<string, number>();
  const first = nodes.filter((node) => cited.has(node));
  const queue = first.length > 0 ? first : nodes.slice(0, 1);
  for (const node of queue) column.set(node, 0);
  for (let i = 0; i < queue.length; i++) {
    for (const { from, to } of edges) {
      for (const [near, far] of [[from, to], [to, from]] as const) {
        if (near !== queue[i] || column.has(far)) continue;
        column.set(far, Math.min(2, column.get(near)! + 1));
        queue.push(far);
      }
    }
  }
  const rows = [0, 0, 0];
  const base = nodes.map((path) => path.slice(path.lastIndexOf('/') + 1));
  const placed = nodes.map((path, i): Node => {
    const at = column.get(path) ?? 2;
    const same = base.filter((name) => name === base[i]).length > 1;
    return { path, label: same ? path.split('/').slice(-2).join('/') : base[i]!, column: at, row: rows[at]!++ };
  });
  const byPath = new Map(placed.map((node) => [node.path, node]));
  const tall = Math.max(...rows, 1);
  return {
    nodes: placed,
    edges: edges.map(({ from, to, kind }) => ({ from: byPath.get(from)!, to: byPath.get(to)!, kind })),
    width: (rows[2]! > 0 ? 3 : rows[1]! > 0 ? 2 : 1) * (box.width + box.gapX) - box.gapX + 8,
    height: tall * (box.height + box.gapY) + 8,
    left: graph.nodes.length - nodes.length,
  };
}

/** Pictures so far: the marks of each have names of their own. */
let pictures = 0;

/** Draws the files around an answer and how they hang together. */
export function draw(graph: Graph, cited: Set<string>): HTMLElement {
  const l = layout(graph, cited);
  const figure = document.createElement('figure');
  figure.className = 'graph';
  const mark = `arrow-${++pictures}`;
  const svg = element('svg', { viewBox: `0 0 ${l.width} ${l.height}`, width: l.width, height: l.height, role: 'group', 'aria-label': `${l.nodes.length} files and how they hang together` });
  const kinds = [...new Set(l.edges.map(({ kind }) => kind))].sort();
  for (const kind of kinds) {
    const marker = element('marker', { id: `${mark}-${kind}`, class: `edge-${kind}`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse' });
    marker.append(element('path', { d: 'M0 0L8 4L0 8z', class: 'head' }));
    svg.append(marker);
  }
  for (const { from, to, kind } of l.edges) {
    const line = element('path', { d: curve(from, to), class: `edge edge-${kind}`, 'marker-end': `url(#${mark}-${kind})` });
    line.append(title(`${from.path} ${words(kind)} ${to.path}`));
    svg.append(line);
  }
  for (const node of l.nodes) {
    const { x, y } = corner(node);
    const group = element('g', { class: cited.has(node.path) ? 'node cited' : 'node', tabindex: 0, role: 'button', 'aria-label': `Open ${node.path}${cited.has(node.path) ? ', cited' : ''}`, 'data-act': 'open-path', 'data-path': node.path });
    group.append(title(node.path), element('rect', { x, y, width: box.width, height: box.height, rx: 5 }));
    const text = element('text', { x: x + box.width / 2, y: y + box.height / 2 + 4, 'text-anchor': 'middle' });
    text.textContent = node.label.length > 24 ? `…${node.label.slice(-23)}` : node.label;
    group.append(text);
    svg.append(group);
  }
  const caption = document.createElement('figcaption');
  for (const kind of kinds) {
    const key = document.createElement('span');
    key.className = `key edge-${kind}`;
    key.textContent = words(kind);
    caption.append(key);
  }
  if (l.left > 0) caption.append(`${l.left} more files`);
  const scroll = document.createElement('div');
  scroll.className = 'scroll';
  scroll.append(svg);
  figure.append(scroll, caption);
  return figure;
}

function words(kind: string): string {
  return { test_for: 'tests', sibling_file: 'is beside' }[kind] ?? kind.replaceAll('_', ' ');
}

function corner({ column, row }: Node): { x: number; y: number } {
  return { x: 4 + column * (box.width + box.gapX), y: 4 + row * (box.height + box.gapY) };
}

function curve(from: Node, to: Node): string {
  const a = corner(from);
  const b = corner(to);
  const ay = a.y + box.height / 2;
  const by = b.y + box.height / 2;
  if (from.column === to.column) {
    const x = a.x + box.width;
    return `M${x} ${ay}C${x + 40} ${ay} ${x + 40} ${by} ${x} ${by}`;
  }
  const right = to.column > from.column;
  const x1 = right ? a.x + box.width : a.x;
  const x2 = right ? b.x : b.x + box.width;
  const middle = (x1 + x2) / 2;
  return `M${x1} ${ay}C${middle} ${ay} ${middle} ${by} ${x2} ${by}`;
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const e = document.createElementNS(ns, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, String(value));
  return e;
}

function title(text: string): SVGElement {
  const e = element('title', {});
  e.textContent = text;
  return e;
}
