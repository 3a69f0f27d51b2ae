// Renders a chart like Helm, where Helm is not installed: `render-chart FOLDER RELEASE VALUES.yaml`.
// The functions are Sprig's, as in Helm, and Helm's own three that are used: include, required and toYaml.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func main() {
	folder, release := os.Args[1], os.Args[2]
	values := read(filepath.Join(folder, "values.yaml"))
	merge(values, read(os.Args[3]))
	chart := read(filepath.Join(folder, "Chart.yaml"))
	about := map[string]any{
		"Values":  values,
		"Chart":   map[string]any{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
		"Release": map[string]any{"Name": release, "Service": "Helm", "Namespace": "default"},
	}

	templates := template.New("").Option("missingkey=error").Funcs(sprig.TxtFuncMap())
	templates.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var text bytes.Buffer
			err := templates.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"required": func(problem string, value any) (any, error) {
			if value == nil || value == "" {
				return nil, errors.New(problem)
			}
			return value, nil
		},
		"toYaml": func(value any) (string, error) {
			text, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(text), "\n"), err
		},
	})
	template.Must(templates.ParseGlob(filepath.Join(folder, "templates", "*")))
	for _, one := range templates.Templates() {
		if strings.HasSuffix(one.Name(), ".yaml") {
			fmt.Println("---")
			check(one.Execute(os.Stdout, about))
		}
	}
}

// Helm reads YAML by way of JSON, in which every number is a float64.
func read(path string) map[string]any {
	text, err := os.ReadFile(path)
	check(err)
	read := map[string]any{}
	check(yaml.Unmarshal(text, &read))
	written, err := json.Marshal(read)
	check(err)
	found := map[string]any{}
	check(json.Unmarshal(written, &found))
	return found
}

func merge(values, given map[string]any) {
	for name, value := range given {
		inner, isMap := value.(map[string]any)
		if outer, ok := values[name].(map[string]any); ok && isMap {
			merge(outer, inner)
		} else {
			values[name] = value
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
