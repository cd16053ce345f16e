package chunk

func (w *worker) recognise() {}
