package chunk

import "strings"

// prose cuts plain text into windows of words, along lines and, where one is
// near the end of the window, along a blank line.
func (w *worker) prose() {
	size, overlap := w.c.opts.TextWords, w.c.opts.TextOverlap
	n := w.src.count()
	words := make([]int, n+1) // before each line
	for i := 1; i <= n; i++ {
		words[i] = words[i-1] + len(strings.Fields(w.src.line(i)))
	}
	count := func(from, to int) int { return words[to] - words[from-1] }
	const maxChars = 8 // per word, on average: text without blanks is cut too
	fits := func(from, to int) bool {
		return count(from, to) <= size && w.src.size(from, to) <= size*maxChars
	}
	for start := 1; start <= n; {
		end := start
		for end < n && fits(start, end+1) {
			end++
		}
		if end < n {
			for e := end; e > start && count(start, e) > size*3/4; e-- {
				if w.src.blank(e) {
					end = e
					break
				}
			}
		}
		p := piece{kind: Lines, def: -1, owner: -1}
		var ok bool
		if p.first, p.last, ok = w.src.trim(start, end); ok {
			w.pieces = append(w.pieces, p)
		}
		if end >= n {
			return
		}
		next := end + 1
		for next-1 > start && count(next-1, end) <= overlap && w.src.size(next-1, end) <= overlap*maxChars {
			next--
		}
		start = next
	}
}

// csv cuts a table into its header and groups of rows; the later groups get the
// header line as their header.
func (w *worker) csv() {
	n := w.src.count()
	header := cutRunes(w.src.line(1), 300)
	for start := 1; start <= n; {
		end := start
		for end < n && w.src.size(start, end+1) <= w.c.opts.MaxChars {
			end++
		}
		p := piece{kind: Block, def: -1, owner: -1}
		if start > 1 {
			p.header = strings.Clone(header)
		}
		var ok bool
		if p.first, p.last, ok = w.src.trim(start, end); ok {
			w.pieces = append(w.pieces, p)
		}
		start = end + 1
	}
}

// rst cuts reStructuredText along its sections, as Markdown is.
func (w *worker) rst() {
	var headings []heading
	var styles []string
	n := w.src.count()
	for i := 1; i < n; i++ {
		title, under := strings.TrimRight(w.src.line(i), " \t"), w.src.line(i+1)
		mark := adornment(under)
		if mark == 0 || title == "" || adornment(title) != 0 || title[0] == ' ' || len(strings.TrimRight(under, " \t")) < len([]rune(title)) || i > 1 && !w.src.blank(i-1) && adornment(w.src.line(i-1)) == 0 {
			continue
		}
		h := heading{text: headingText(title), line: i, body: i + 2}
		style := string(mark)
		if i > 1 && adornment(w.src.line(i-1)) == mark {
			style, h.line = "over"+style, i-1
		}
		for h.level = 1; h.level <= len(styles) && styles[h.level-1] != style; h.level++ {
		}
		if h.level > len(styles) {
			styles = append(styles, style)
		}
		headings = append(headings, h)
		i++
	}
	w.sections(headings, nil, "", 1)
}

// adornment is the character that an rst line repeats, or 0.
func adornment(line string) byte {
	line = strings.TrimRight(line, " \t")
	if len(line) < 3 || strings.IndexByte("=-`:'\"~^_*+#<>.", line[0]) < 0 || strings.Trim(line, line[:1]) != "" {
		return 0
	}
	return line[0]
}
