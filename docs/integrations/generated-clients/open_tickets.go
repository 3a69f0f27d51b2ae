// Prints the fleet, and every open ticket.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var client = http.Client{Timeout: 30 * time.Second}

// get reads the answer to a request into body. It waits while the key is over its limit.
func get(path string, body any) error {
	key, err := os.ReadFile(os.Getenv("DBVITALS_KEY_FILE"))
	if err != nil {
		return err
	}
	request, err := http.NewRequest("GET", os.Getenv("DBVITALS_URL")+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	for {
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			return err
		}
		if answer.StatusCode == http.StatusOK {
			return json.Unmarshal(text, body)
		}
		seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		if answer.StatusCode != http.StatusTooManyRequests || err != nil {
			return fmt.Errorf("%s: %s", answer.Status, text)
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

func run() error {
	var fleet struct{ Data []FleetEntry }
	if err := get("/api/v1/health/fleet", &fleet); err != nil {
		return err
	}
	for _, entry := range fleet.Data {
		score := "no score"
		if entry.Score != nil {
			score = strconv.FormatInt(*entry.Score, 10)
		}
		fmt.Printf("%s: %s, %s\n", entry.Name, score, entry.Status)
	}
	for page, hasMore := 1, true; hasMore; page++ {
		var tickets struct {
			Data []Ticket
			Meta TicketMeta
		}
		if err := get(fmt.Sprintf("/api/v1/ops/tickets?status=open&per_page=20&page=%d", page), &tickets); err != nil {
			return err
		}
		for _, ticket := range tickets.Data {
			fmt.Println(ticket.ID, ticket.FirstSeenAt.Format("2006-01-02"), ticket.Severity, ticket.Title)
		}
		hasMore = tickets.Meta.HasMore
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
