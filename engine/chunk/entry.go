package chunk

func (w *worker) entryPoints(chunks []Chunk) {}
