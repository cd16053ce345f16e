package main

import (
	"image/color"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// plotData is a bar chart of ours beside the peer.
type plotData struct {
	title, unit string
	labels      []string
	ours, peers []float64 // a bar each; 0 for none
	peerName    string
}

// barWidth is that of one bar; a label's two bars stand side by side.
const barWidth = 26

func (d *plotData) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	p := plot.New()
	sans := font.Font{Variant: "Sans"}
	for _, style := range []*font.Font{&p.Title.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.Y.Tick.Label.Font, &p.X.Tick.Label.Font, &p.Legend.TextStyle.Font} {
		size := style.Size
		*style = sans
		style.Size = size
	}
	p.Title.Text = d.title
	p.Title.Padding = vg.Points(8)
	p.Y.Label.Text = d.unit
	if err := d.bars(p, d.ours, "coderag-ls", -barWidth/2, color.RGBA{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff}); err != nil {
		return err
	}
	if len(d.peers) > 0 { // the two colours differ in lightness too
		if err := d.bars(p, d.peers, d.peerName, barWidth/2, color.RGBA{R: 0xe0, G: 0x9b, B: 0x3a, A: 0xff}); err != nil {
			return err
		}
	}
	p.Legend.Top = true
	p.Legend.Padding = vg.Points(2)
	p.NominalX(d.labels...)
	p.X.Min, p.X.Max = -.6, float64(len(d.labels))-.4
	p.Y.Min, p.Y.Max = 0, 1.35*max(slices.Max(d.ours), slices.Max(append(d.peers, 0))) // room for the legend
	return p.Save(vg.Points(float64(130+100*len(d.labels))), vg.Points(270), path)
}

func (d *plotData) bars(p *plot.Plot, values []float64, name string, shift vg.Length, c color.Color) error {
	bars, err := plotter.NewBarChart(plotter.Values(values), vg.Points(barWidth))
	if err != nil {
		return err
	}
	bars.Offset, bars.Color, bars.LineStyle.Width = shift, c, 0
	var tops plotter.XYLabels
	for i, v := range values {
		if v > 0 {
			tops.XYs = append(tops.XYs, plotter.XY{X: float64(i), Y: v})
			tops.Labels = append(tops.Labels, number(v))
		}
	}
	figures, err := plotter.NewLabels(tops)
	if err != nil {
		return err
	}
	figures.Offset = vg.Point{X: shift - barWidth/2 + 2, Y: vg.Points(3)}
	for i := range figures.TextStyle {
		figures.TextStyle[i].Font = font.Font{Variant: "Sans", Size: vg.Points(8)}
	}
	p.Add(bars, figures)
	p.Legend.Add(name, bars)
	return nil
}
